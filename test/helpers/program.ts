// Programs that tests and the demo start: waited for by condition, stopped by their own process id.
import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ended } from './commandHere.ts';
import { waitFor, type WaitOptions } from './waitFor.ts';

/**
 * A port that nobody listens on now. It is below the range that systems use for outgoing
 * connections, so that a program that is stopped and started again finds it free.
 */
export async function freePort(): Promise<number> {
  const server = createServer().listen(randomInt(20_000, 32_000), '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return await freePort();
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * The part of this environment that every Node program needs: where programs are, and where Node
 * caches compiled code, which saves each start a sixth of its time.
 */
export const BARE_ENV = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** The built service, and its commands. */
export const MAIN = fileURLToPath(new URL('../../service/dist/main.js', import.meta.url));

const COMMAND_MS = 120_000;

/** Runs a command of the service in a process of its own. */
export const runCommand = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { cwd, input }: { cwd?: string; input?: Buffer } = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = {
      cwd,
      env: { ...BARE_ENV, ...env },
      timeout: COMMAND_MS,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 30,
    } as const;
    const child = execFile(process.execPath, [MAIN, ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin!.on('error', () => {}); // a command that refuses the first lines reads no more
    child.stdin!.end(input);
  });

interface ProgramOptions {
  /** What error messages call it. */
  name: string;
  /** The script, run with this very Node. */
  script: string;
  args?: readonly string[];
  /**
   * A command and its arguments. It gets the command line of Node and the script as further
   * arguments, and must end with `exec "$@"`.
   */
  launcher?: readonly [string, ...string[]] | undefined;
  cwd?: string;
  env: NodeJS.ProcessEnv;
  /** Its output is appended here; the end of it is shown when it does not start. */
  logFile: string;
}

/** A running Node program. */
export interface Program {
  readonly pid: number;
  readonly exited: boolean;
  /** Waits until the program is ready. @throws at once when the program ends instead */
  ready(probe: () => Promise<boolean>, options?: WaitOptions): Promise<void>;
  /** SIGTERM, and SIGKILL when it has not ended within the grace; resolves once it is gone. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL: what a power cut or the kernel would do. */
  kill(): Promise<void>;
}

export async function startProgram({
  name,
  script,
  args = [],
  launcher,
  cwd,
  env,
  logFile,
}: ProgramOptions): Promise<Program> {
  const log = await open(logFile, 'a');
  const [program, ...before] = [...(launcher ?? []), process.execPath];
  const child = spawn(program!, [...before, script, ...args], {
    cwd,
    env: cleanEnv(env),
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  ended.catch(() => {});
  // The child has its own copy of the log.
  await once(child, 'spawn').finally(() => log.close());
  const exited = () => child.exitCode !== null || child.signalCode !== null;

  return {
    pid: child.pid!,
    get exited() {
      return exited();
    },
    async ready(probe, options = { timeoutMs: 60_000 }) {
      try {
        await waitFor(`${name} to be ready`, async () => exited() || (await probe()), options);
      } catch (error) {
        throw new Error(
          `${(error as Error).message} The end of ${logFile}:\n${await tailOf(logFile)}`,
          { cause: error },
        );
      }
      if (exited())
        throw new Error(
          `${name} ended while starting. The end of ${logFile}:\n${await tailOf(logFile)}`,
        );
    },
    async stop(graceMs = 20_000) {
      if (exited()) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(late);
    },
    async kill() {
      if (exited()) return;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * The environment for another program: ours, with this very Node first on the PATH, and without what
 * an `npm run` around us has set. npm passes on its prefix and its package's settings, which would
 * override those of the folder that an npm runs in.
 */
export function cleanEnv(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(package|lifecycle|command)|npm_config_(local_prefix|ignore_scripts|legacy_peer_deps|workspace)|INIT_CWD|NODE_OPTIONS|NODE_ENV|JEST_)/i.test(
        name,
      ),
  );
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries(inherited), PATH: path, ...extra };
}

/** The last lines of a log file, for an error message; empty when there is none. */
export async function tailOf(file: string, lines = 40): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').slice(-lines).join('\n');
}
