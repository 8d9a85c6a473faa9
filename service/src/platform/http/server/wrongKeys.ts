import type { Request } from 'express';
import { shortKey } from '../../limits/limiter.ts';
import { byAddress, type RateLimit } from './rateLimit.ts';

/** How many valid keys are remembered: more than any process sees. */
const MAX_KNOWN_KEYS = 10_000;

/**
 * Limits the cost of wrong API keys: each takes a look-up in the store. An address that sent too
 * many is refused without a look-up. Keys that were valid lately still pass, so that an automation
 * at the same address keeps working.
 */
export class WrongKeys {
  readonly #rate: RateLimit;
  /** Keys that were valid lately, shortened; the one used longest ago comes first. */
  readonly #known = new Set<string>();

  /** @param rate counts wrong keys by address */
  constructor(rate: RateLimit) {
    this.#rate = rate;
  }

  /**
   * Checks the address before the look-up.
   * @throws rate_limited (429) when it sent too many wrong keys, unless this key was valid lately
   */
  async checkAddress(request: Request, key: string): Promise<void> {
    if (!this.#known.has(shortKey(key))) await this.#rate.spend(byAddress(request), 0);
  }

  /**
   * Counts a wrong key. A key that was valid lately, but has expired or was revoked, is forgotten.
   * @throws rate_limited (429) when the address has sent too many
   */
  countWrong(request: Request, key: string): Promise<void> {
    this.#known.delete(shortKey(key));
    return this.#rate.spend(byAddress(request));
  }

  noteValid(key: string): void {
    const short = shortKey(key);
    this.#known.delete(short);
    this.#known.add(short);
    if (this.#known.size > MAX_KNOWN_KEYS) this.#known.delete(this.#known.values().next().value!);
  }
}
