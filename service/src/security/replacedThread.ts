import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

/** What a thread answers to an order. */
export type ThreadAnswer = { readonly value: unknown } | { readonly fault: string };

/**
 * A thread that does one order after the other. It starts with the first one; when it breaks, the
 * order at hand fails, and the next one starts another. It keeps the process alive only while it
 * has an order.
 */
export class ReplacedThread<Order> {
  readonly #script: URL;
  readonly #log: Pick<Logger, 'error'>;
  readonly #broken: () => Error;
  #worker: Worker | null = null;
  #atHand: PromiseWithResolvers<unknown> | null = null;

  /**
   * @param script takes orders as messages, and posts a ThreadAnswer to each
   * @param broken what an order fails with when the thread broke, or was closed
   */
  constructor(script: URL, log: Pick<Logger, 'error'>, broken: () => Error) {
    this.#script = script;
    this.#log = log;
    this.#broken = broken;
  }

  get isBusy(): boolean {
    return this.#atHand !== null;
  }

  /**
   * @param order is copied: a small Buffer is part of a pool that all share, and cannot be handed
   * over
   */
  async run(order: Order): Promise<unknown> {
    this.#atHand = Promise.withResolvers();
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      this.#worker.postMessage(order);
      return await this.#atHand.promise;
    } finally {
      this.#atHand = null;
      this.#worker?.unref();
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    // Options of the process are for its main thread.
    const worker = new Worker(this.#script, { execArgv: [] });
    worker.on('message', (answer: ThreadAnswer) => {
      if ('fault' in answer) this.#atHand?.reject(new Error(answer.fault));
      else this.#atHand?.resolve(answer.value);
    });
    worker.on('error', (error) =>
      this.#log.error({ err: error }, 'a thread broke; the next order starts another'),
    );
    worker.once('exit', () => {
      this.#worker = null;
      this.#atHand?.reject(this.#broken());
    });
    return worker;
  }
}
