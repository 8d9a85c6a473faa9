import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { AppError } from '../domain/errorCatalogue.ts';

/** What a thread answers to an order. */
export type ThreadAnswer = { readonly value: unknown } | { readonly fault: string };

const RETRY_SECONDS = 1;

/**
 * A thread that does one order after the other. It starts with the first one; when it breaks, the
 * order at hand fails, and the next one starts another. It keeps the process alive only while it
 * has an order.
 */
export class ReplacedThread<Order> {
  readonly #script: URL;
  readonly #log: Pick<Logger, 'error'>;
  #worker: Worker | null = null;
  #atHand: PromiseWithResolvers<unknown> | null = null;

  /** @param script takes orders as messages, and posts a ThreadAnswer to each */
  constructor(script: URL, log: Pick<Logger, 'error'>) {
    this.#script = script;
    this.#log = log;
  }

  get isBusy(): boolean {
    return this.#atHand !== null;
  }

  /** @throws unavailable (503) when the thread broke meanwhile, or was closed */
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
      this.#log.error({ err: error }, 'a thread broke; the next password starts another'),
    );
    worker.once('exit', () => {
      this.#worker = null;
      this.#atHand?.reject(
        new AppError('unavailable', 'The password could not be checked. Try again in a second.', {
          retryAfterSeconds: RETRY_SECONDS,
        }),
      );
    });
    return worker;
  }
}
