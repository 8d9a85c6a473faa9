import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from './restartingThread.ts';

/**
 * Called by the script of a RestartingThread. Answers each task that is posted to the thread. The
 * thread gets a lower priority than requests and the journal, but only on Linux: on other systems,
 * that would be the priority of the whole process.
 */
export function answerTasks<Task>(answer: (task: Task) => unknown): void {
  lowerPriority();
  parentPort!.on('message', (task: Task) => {
    parentPort!.postMessage(answerTo(answer, task));
  });
}

/** A process that was started with a lower priority keeps it: Linux refuses to raise it again. */
function lowerPriority(): void {
  const { PRIORITY_BELOW_NORMAL } = constants.priority;
  if (platform() === 'linux' && getPriority() < PRIORITY_BELOW_NORMAL)
    setPriority(PRIORITY_BELOW_NORMAL);
}

function answerTo<Task>(answer: (task: Task) => unknown, task: Task): ThreadAnswer {
  try {
    return { value: answer(task) };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
