// Runs the receivers of examples/receivers as programs, each in its own language.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../helpers/waitFor.ts';

export const kit = fileURLToPath(new URL('../../examples/receivers', import.meta.url));

type Command = readonly [command: string, ...args: string[]];

export interface Language {
  readonly name: 'node' | 'python' | 'php' | 'go';
  /** Succeeds where the language is installed. */
  readonly probe: Command;
  /** The Debian package of the language. */
  readonly debian: string;
  /** Checks the receiver with the test vectors; run in the receiver's folder. */
  readonly check: Command;
  /** The command that builds the receiver into a folder, where it must be built first. */
  build?(folder: string): Command;
  run(port: number, folder: string): Command;
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'node',
    probe: [process.execPath, '--version'],
    debian: 'nodejs',
    check: [process.execPath, 'check.mjs'],
    run: () => [process.execPath, 'receiver.mjs'],
  },
  {
    name: 'python',
    probe: ['python3', '--version'],
    debian: 'python3',
    check: ['python3', 'check.py'],
    run: () => ['python3', 'receiver.py'],
  },
  {
    name: 'php',
    probe: ['php', '--version'],
    debian: 'php-cli',
    check: ['php', 'check.php'],
    // As on a developer's machine, where PHP answers 200 after an error.
    run: (port) => ['php', '-d', 'display_errors=1', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
  {
    name: 'go',
    probe: ['go', 'version'],
    debian: 'golang-go',
    // Without vet, which reads all of Go's own library first.
    check: ['go', 'test', '-vet=off'],
    build: (folder) => ['go', 'build', '-o', join(folder, 'receiver'), '.'],
    run: (_port, folder) => [join(folder, 'receiver')],
  },
];

export const isInstalled = ({ probe: [command, ...args] }: Language): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** No network and no C compiler is needed to build the Go example. */
const ENVIRONMENT = {
  CGO_ENABLED: '0',
  GOPROXY: 'off',
  GOFLAGS: '-mod=mod',
  GOTOOLCHAIN: 'local',
  PYTHONDONTWRITEBYTECODE: '1',
};

/** Runs a command in an example's folder and waits for its end. */
export async function runIn(
  language: Language,
  [command, ...args]: Command,
): Promise<{ exitCode: number | null; output: string }> {
  const child = spawn(command, args, {
    cwd: join(kit, language.name),
    env: { ...process.env, ...ENVIRONMENT },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => output.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, output: Buffer.concat(output).toString() };
}

export interface ReceiverProgram {
  readonly url: string;
  /** All it has written so far. */
  readonly output: string;
  /** How often it handled an event. */
  handled(eventId: string): number;
  close(): Promise<void>;
}

/** Makes a folder for what an example builds and keeps, and builds the example there. */
export async function prepare(
  language: Language,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `receiver-${language.name}-`));
  if (language.build) {
    const { exitCode, output } = await runIn(language, language.build(folder));
    if (exitCode !== 0) throw new Error(`The ${language.name} receiver was not built:\n${output}`);
  }
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** Starts a receiver; it listens when this resolves. */
export async function startReceiver(
  language: Language,
  folder: string,
  port: number,
  secrets: readonly string[],
): Promise<ReceiverProgram> {
  const [command, ...args] = language.run(port, folder);
  const child = spawn(command, args, {
    cwd: join(kit, language.name),
    env: {
      ...process.env,
      ...ENVIRONMENT,
      TMPDIR: folder,
      PORT: String(port),
      WEBHOOK_SECRETS: secrets.join(','),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close');
  const close = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  const hasEnded = () => child.exitCode !== null;
  try {
    await waitFor(`the ${language.name} receiver`, () => hasEnded() || isListening(port));
    if (hasEnded()) throw new Error('It ended while starting.');
  } catch (error) {
    await close();
    throw new Error(`The ${language.name} receiver did not start:\n${output}`, { cause: error });
  }
  return {
    url: `http://127.0.0.1:${port}/`,
    get output() {
      return output;
    },
    handled: (eventId) =>
      output.split('\n').filter((line) => line.includes(` ${eventId} in `)).length,
    close,
  };
}
