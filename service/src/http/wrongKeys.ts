import type { Request } from 'express';
import { shortKey } from '../limits/limiter.ts';
import { byAddress, type RateLimit } from './rateLimit.ts';

/** Valid keys that are remembered, to tell them from guesses: more than one process sees. */
const MAX_KNOWN_KEYS = 10_000;

/**
 * Limits the cost of wrong API keys: each one is a look-up in the store. An address that has sent too
 * many is refused without a look-up. Keys that were valid lately still pass, so that an automation
 * behind the same address keeps working.
 */
export class WrongKeys {
  readonly #rate: RateLimit;
  /** The least recently used first. */
  readonly #known = new Set<string>();

  /** @param rate counts wrong keys by address */
  constructor(rate: RateLimit) {
    this.#rate = rate;
  }

  /**
   * @throws rate_limited (429) when the address has sent too many wrong ones and this one is not
   * known
   */
  async before(request: Request, key: string): Promise<void> {
    if (!this.#known.has(shortKey(key))) await this.#rate.spend(byAddress(request), 0);
  }

  /** @throws rate_limited (429) when it is one too many */
  wrong(request: Request): Promise<void> {
    return this.#rate.spend(byAddress(request));
  }

  right(key: string): void {
    const short = shortKey(key);
    this.#known.delete(short);
    this.#known.add(short);
    if (this.#known.size > MAX_KNOWN_KEYS) this.#known.delete(this.#known.values().next().value!);
  }
}
