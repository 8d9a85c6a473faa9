import { InFlightLimit } from './inFlightLimit.ts';

/** What a receiver bore so long ago says nothing about now. */
const FORGOTTEN_AFTER_MS = 10 * 60 * 1000;
const FIRST_SWEEP_AT = 64;

/** The limit of each group of deliveries. One that has long been idle is forgotten: groups come and go with subscriptions. */
export class InFlightLimits {
  readonly #byGroup = new Map<string, InFlightLimit>();
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #sweepAt = FIRST_SWEEP_AT;

  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  get size(): number {
    return this.#byGroup.size;
  }

  of(group: string): InFlightLimit {
    let limit = this.#byGroup.get(group);
    if (!limit) {
      if (this.size >= this.#sweepAt) this.#sweep();
      this.#byGroup.set(group, (limit = new InFlightLimit(this.#timeoutMs, this.#now)));
    }
    return limit;
  }

  /** Looks at all of them only when they have doubled since the last time. */
  #sweep(): void {
    for (const [group, limit] of this.#byGroup) if (limit.idleMs > FORGOTTEN_AFTER_MS) this.#byGroup.delete(group);
    this.#sweepAt = Math.max(FIRST_SWEEP_AT, 2 * this.size);
  }
}
