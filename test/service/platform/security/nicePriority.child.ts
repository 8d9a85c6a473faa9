// Started with a low priority. Prints the priority that a thread has when it answers.
import { getPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { RestartingThread } from '../../../../service/src/platform/security/restartingThread.ts';
import { answerTasks } from '../../../../service/src/platform/security/threadScript.ts';

if (isMainThread) {
  const script = new URL(import.meta.url);
  const thread = new RestartingThread<null>(script, console, () => new Error('the thread broke'));
  console.log(String(await thread.run(null)));
} else answerTasks(() => getPriority());
