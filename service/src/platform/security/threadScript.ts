import { constants, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './restartingThread.ts';

/**
 * Called by the script of a RestartingThread. Answers each task that is posted to the thread. The
 * thread gets a lower priority than requests and the journal, but only on Linux: on other systems,
 * that would be the priority of the whole process.
 */
export function answerTasks<Task>(answer: (task: Task) => unknown): void {
  if (platform() === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
  parentPort!.on('message', (task: Task) => {
    parentPort!.postMessage(answerTo(answer, task));
  });
}

function answerTo<Task>(answer: (task: Task) => unknown, task: Task): ThreadAnswer {
  try {
    return { value: answer(task) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
