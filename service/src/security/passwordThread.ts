// The thread that hashes passwords, one after the other.
import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { hashSync, verifySync } from '@node-rs/argon2';
import type { ThreadAnswer } from './replacedThread.ts';

/** Without a hash the password is hashed, else compared with it: with nobody's when it is null. */
export interface PasswordOrder {
  readonly password: string;
  readonly passwordHash?: string | null;
}

// Requests and the journal go first. Linux sets the priority of the calling thread, other systems
// that of the whole process.
if (platform() === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

/** What nobody's password gives: compared with where there is no member, to take as long. */
const nobody = hashSync(`${Math.random()}`);

const answerTo = ({ password, passwordHash }: PasswordOrder): string | boolean => {
  if (passwordHash === undefined) return hashSync(password);
  return verifySync(passwordHash ?? nobody, password) && passwordHash !== null;
};

parentPort!.on('message', (order: PasswordOrder) => {
  let answer: ThreadAnswer;
  try {
    answer = { value: answerTo(order) };
  } catch (error) {
    answer = { fault: (error as Error).message };
  }
  parentPort!.postMessage(answer);
});
