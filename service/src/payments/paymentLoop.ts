import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import type { PaymentsConfig } from './paymentAdapter.ts';

export interface PaymentLoopOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly log: Logger;
  readonly config: PaymentsConfig;
}

/** Does what providers have still to be asked or told about payments, and ends those whose time is over. */
export class PaymentLoop {
  readonly #options: PaymentLoopOptions;

  /** Starts at once. */
  constructor(options: PaymentLoopOptions) {
    this.#options = options;
  }

  async stop(): Promise<void> {
    this.#options.log.debug('stopped');
  }
}
