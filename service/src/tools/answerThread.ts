// The thread that reads large answers of tools, one after the other.
import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from '../security/replacedThread.ts';
import { readAttempt, type AnswerOrder } from './readAttempt.ts';

// As the thread that hashes passwords: requests and the journal go first.
if (platform() === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

parentPort!.on('message', (order: AnswerOrder) => {
  let answer: ThreadAnswer;
  try {
    answer = { value: readAttempt(order) };
  } catch (error) {
    answer = { fault: (error as Error).message };
  }
  parentPort!.postMessage(answer);
});
