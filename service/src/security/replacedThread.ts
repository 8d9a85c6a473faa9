import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

/** What a thread answers to an order. */
export type ThreadAnswer = { readonly value: unknown } | { readonly fault: string };

/**
 * A thread that answers one order at a time. It starts with the first order. When it breaks, the
 * current order fails and the next one starts a new thread. It keeps the process alive only while it
 * has an order.
 */
export class ReplacedThread<Order> {
  readonly #script: URL;
  readonly #log: Pick<Logger, 'error'>;
  readonly #broken: () => Error;
  #worker: Worker | null = null;
  #current: PromiseWithResolvers<unknown> | null = null;

  /**
   * @param script calls `answerOrders`
   * @param broken makes the error of an order whose thread broke or was closed
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
   * @param order is copied. A small Buffer is part of a pool that all share and cannot be
   * transferred.
   */
  async run(order: Order): Promise<unknown> {
    this.#current = Promise.withResolvers();
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(order);
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
    // The process's own options are for its main thread.
    const worker = new Worker(this.#script, { execArgv: [] });
    worker.on('message', (answer: ThreadAnswer) => {
      if ('fault' in answer) this.#current?.reject(new Error(answer.fault));
      else this.#current?.resolve(answer.value);
    });
    worker.on('error', (error) =>
      this.#log.error({ err: error }, 'a thread broke; the next order starts a new one'),
    );
    worker.once('exit', () => {
      this.#worker = null;
      this.#current?.reject(this.#broken());
    });
    return worker;
  }
}
