import { InFlightLimit } from './inFlightLimit.ts';

/** A limit that was unused for this long says nothing about the receiver any more. */
const FORGOTTEN_AFTER_MS = 10 * 60 * 1000;
const FIRST_SWEEP_AT = 64;

/**
 * The limit of each subscription's deliveries. Limits come and go with subscriptions, so one that
 * has long been idle is forgotten.
 */
export class InFlightLimits {
  readonly #bySubscription = new Map<string, InFlightLimit>();
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #sweepAt = FIRST_SWEEP_AT;

  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  get size(): number {
    return this.#bySubscription.size;
  }

  of(subscriptionId: string): InFlightLimit {
    let limit = this.#bySubscription.get(subscriptionId);
    if (!limit) {
      if (this.size >= this.#sweepAt) this.#sweep();
      this.#bySubscription.set(
        subscriptionId,
        (limit = new InFlightLimit(this.#timeoutMs, this.#now)),
      );
    }
    return limit;
  }

  /** Looks at all limits only when they have doubled since the last time. */
  #sweep(): void {
    for (const [subscriptionId, limit] of this.#bySubscription)
      if (limit.idleMs > FORGOTTEN_AFTER_MS) this.#bySubscription.delete(subscriptionId);
    this.#sweepAt = Math.max(FIRST_SWEEP_AT, 2 * this.size);
  }
}
