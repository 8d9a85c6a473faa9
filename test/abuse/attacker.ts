// The test's side of an attack: a child process that is ended by its id, whatever happens.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../helpers/program.ts';

export type Counts = Readonly<Record<string, number>>;

export interface Attacker {
  /** Settles with what the attacker counted, when it has ended. */
  readonly ended: Promise<Counts>;
  /** Asks it to begin nothing more, and waits for its end. */
  stop(): Promise<Counts>;
  /** SIGKILL, when it still runs. */
  kill(): Promise<void>;
}

/** Starts `attacks/<name>.ts`; the attack is under way when this resolves. */
export async function startAttacker(name: string, args: object): Promise<Attacker> {
  const script = fileURLToPath(new URL(`./attacks/${name}.ts`, import.meta.url));
  const child = fork(script, [JSON.stringify(args)], {
    env: cleanEnv(),
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const begun = messageOf(child, 'begun');
  const counted = messageOf(child, 'counts') as Promise<Counts>;
  for (const each of [begun, counted]) each.catch(() => {});
  const ended = counted.then(async (counts) => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
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
      if (child.exitCode !== null || child.signalCode !== null) return;
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
      reject(new Error(`The attacker ended with ${signal ?? code} before it said "${field}".`)),
    );
  });
