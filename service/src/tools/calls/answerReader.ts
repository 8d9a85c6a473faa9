import { extname } from 'node:path';
import type { Logger } from 'pino';
import type { ToolAttemptResult } from './toolCall.ts';
import type { Bounds } from '../../platform/limits/bounds.ts';
import { FairQueue } from '../../platform/limits/fairQueue.ts';
import { OutboundError } from '../../platform/outbound/outboundClient.ts';
import { RestartingThread } from '../../platform/security/restartingThread.ts';
import { readAttempt, type AnswerTask } from './readAnswer.ts';

/** An answer of this size is read on the main thread, in at most about 20 ms. */
export const MAX_SMALL_ANSWER_BYTES = 16 * 1024;
/** How long an answer waits while others are read. A large one takes seconds. */
const WAIT_MS = 20_000;
/** The longest time for waiting and reading. The lease of a tool call covers it. */
export const MAX_READ_MS = WAIT_MS + 10_000;

/** The script is in this folder, both in the source and in the build. */
const SCRIPT = new URL(`./answerThread${extname(import.meta.url)}`, import.meta.url);

interface Waiting {
  timer: NodeJS.Timeout | undefined;
  readonly task: AnswerTask;
  readonly settle: (answer: Promise<ToolAttemptResult>) => void;
}

/**
 * Reads large answers in a thread of its own, one by one, and each workspace in turn. On the main
 * thread, 5 MiB of malicious JSON would stop all requests for five seconds.
 */
export class AnswerReader {
  readonly #bounds: Bounds;
  readonly #thread: RestartingThread<AnswerTask>;
  readonly #waiting = new FairQueue<Waiting>();

  constructor(bounds: Bounds, log: Pick<Logger, 'error'>) {
    this.#bounds = bounds;
    this.#thread = new RestartingThread(SCRIPT, log, tooBusy);
  }

  /** @throws OutboundError `network` when the answer cannot be read in time; the signal's reason */
  async read(
    workspaceId: string,
    task: AnswerTask,
    signal: AbortSignal,
  ): Promise<ToolAttemptResult> {
    if (task.response.body.length <= MAX_SMALL_ANSWER_BYTES) return readAttempt(task);
    const { promise, resolve, reject } = Promise.withResolvers<ToolAttemptResult>();
    // `resolve(answer)` would tie the promise to the answer: an abort could no longer reject it.
    const settle = (answer: Promise<ToolAttemptResult>) => void answer.then(resolve, reject);
    const waiting: Waiting = { timer: undefined, task, settle };
    this.#waiting.add(workspaceId, waiting);
    const giveUp = (reason: unknown) => {
      this.#waiting.delete(workspaceId, waiting);
      reject(reason as Error);
    };
    waiting.timer = setTimeout(() => {
      this.#bounds.reached('tool_answers');
      giveUp(tooBusy());
    }, WAIT_MS);
    const onAbort = () => giveUp(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#next();
    try {
      return await promise;
    } finally {
      clearTimeout(waiting.timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the thread. The answer that it is reading fails. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  /** Gives the next answer to the thread if the thread is free. */
  #next(): void {
    if (this.#thread.isBusy) return;
    const next = this.#waiting.takeNext();
    if (next === undefined) return;
    clearTimeout(next.timer);
    const answer = this.#thread.run(next.task) as Promise<ToolAttemptResult>;
    next.settle(answer);
    answer.catch(() => {}).finally(() => this.#next());
  }
}

const tooBusy = (): OutboundError =>
  new OutboundError(
    'network',
    'The answer could not be read in time because other answers came first.',
  );
