import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

/** What a thread answers to a task. */
export type ThreadAnswer = { readonly value: unknown } | { readonly fault: string };

/**
 * A thread that answers one task at a time. The first task starts it. When it breaks, the current
 * task fails, and the next one starts a new thread. An idle thread does not keep the process alive.
 */
export class RestartingThread<Task> {
  readonly #script: URL;
  readonly #log: Pick<Logger, 'error'>;
  readonly #broken: () => Error;
  #worker: Worker | null = null;
  #current: PromiseWithResolvers<unknown> | null = null;

  /**
   * @param script a file that calls `answerTasks`
   * @param broken makes the error for a task whose thread broke or was closed
   */
  constructor(script: URL, log: Pick<Logger, 'error'>, broken: () => Error) {
    this.#script = script;
    this.#log = log;
    this.#broken = broken;
  }

  get isBusy(): boolean {
    return this.#current !== null;
  }

  /**
   * Must not be called while the thread is busy.
   * @param task copied for the thread, not transferred: Node keeps small Buffers in a shared pool,
   * which cannot be transferred
   */
  async run(task: Task): Promise<unknown> {
    this.#current = Promise.withResolvers();
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(task);
      return await this.#current.promise;
    } finally {
      this.#current = null;
      this.#worker?.unref();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    // Without the options that the process was started with: they are for its main thread alone.
    const worker = new Worker(this.#script, { execArgv: [] });
    worker.on('message', (answer: ThreadAnswer) => {
      if ('fault' in answer) this.#current?.reject(new Error(answer.fault));
      else this.#current?.resolve(answer.value);
    });
    worker.on('error', (error) =>
      this.#log.error({ err: error }, 'a thread broke; the next task starts a new one'),
    );
    worker.once('exit', () => {
      this.#worker = null;
      this.#current?.reject(this.#broken());
    });
    return worker;
  }
}
