import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './restartingThread.ts';

/**
 * Called by the script of a RestartingThread. Answers each order that is posted to the thread. The
 * thread gets a lower priority than requests and the journal. Only Linux can do that for a thread;
 * other systems would lower the whole process.
 */
export function answerOrders<Order>(answer: (order: Order) => unknown): void {
  if (platform() === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  parentPort!.on('message', (order: Order) => {
    parentPort!.postMessage(answerTo(answer, order));
  });
}

function answerTo<Order>(answer: (order: Order) => unknown, order: Order): ThreadAnswer {
  try {
    return { value: answer(order) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
