// The test's side of an attack: starts the attacker as a child process, and stops or kills that
// process only.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../helpers/program.ts';

export type Counts = Readonly<Record<string, number>>;

export interface Attacker {
  /** Resolves with what the attacker counted, once it has ended. */
  readonly ended: Promise<Counts>;
  /** Asks it to begin nothing more, and waits for its end. */
  stop(): Promise<Counts>;
  /** Sends SIGKILL if it still runs, and waits for its end. */
  kill(): Promise<void>;
}

/** Starts `attacks/<name>.ts`. The attack is under way when this resolves. */
export async function startAttacker(name: string, args: object): Promise<Attacker> {
  const script = fileURLToPath(new URL(`./attacks/${name}.ts`, import.meta.url));
  const child = fork(script, [JSON.stringify(args)], {
    env: cleanEnv(),
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const begun = messageOf(child, 'begun');
  const counted = messageOf(child, 'counts') as Promise<Counts>;
  for (const message of [begun, counted]) message.catch(() => {}); // each is awaited later, or never
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const ended = counted.then(async (counts) => {
    if (!hasExited()) await once(child, 'exit');
    return counts;
  });
  ended.catch(() => {});
  await begun;
  return {
    ended,
    stop() {
      if (child.connected) child.send('stop');
      return ended;
    },
    async kill() {
      if (hasExited()) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** The first message that has this field. */
const messageOf = (child: ChildProcess, field: string) =>
  new Promise<unknown>((resolve, reject) => {
    child.on('message', (message: Record<string, unknown>) => {
      if (field in message) resolve(message[field]);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`The attacker ended with ${signal ?? code} before it sent "${field}".`)),
    );
  });
