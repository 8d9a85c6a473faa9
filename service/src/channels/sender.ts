import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import type { ChannelsConfig } from './channelAdapter.ts';

export interface SenderOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly log: Logger;
  readonly config: ChannelsConfig;
  readonly retryDelaysMs: readonly number[];
}

/** Sends what waits for its channel, contact by contact in order. */
export class Sender {
  readonly #options: SenderOptions;

  /** Starts at once. */
  constructor(options: SenderOptions) {
    this.#options = options;
  }

  async stop(): Promise<void> {
    this.#options.log.debug('stopped');
  }
}
