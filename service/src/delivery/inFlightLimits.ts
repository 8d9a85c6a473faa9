import { InFlightLimit } from './inFlightLimit.ts';

/** What a receiver bore so long ago says nothing about now. */
const FORGOTTEN_AFTER_MS = 10 * 60 * 1000;
const FIRST_SWEEP_AT = 64;

/**
 * The limit of each lineage's deliveries. One that has long been idle is forgotten: they come and
 * go with subscriptions.
 */
export class InFlightLimits {
  readonly #byLineage = new Map<string, InFlightLimit>();
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #sweepAt = FIRST_SWEEP_AT;

  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  get size(): number {
    return this.#byLineage.size;
  }

  of(lineageId: string): InFlightLimit {
    let limit = this.#byLineage.get(lineageId);
    if (!limit) {
      if (this.size >= this.#sweepAt) this.#sweep();
      this.#byLineage.set(lineageId, (limit = new InFlightLimit(this.#timeoutMs, this.#now)));
    }
    return limit;
  }

  /** Looks at all of them only when they have doubled since the last time. */
  #sweep(): void {
    for (const [lineageId, limit] of this.#byLineage)
      if (limit.idleMs > FORGOTTEN_AFTER_MS) this.#byLineage.delete(lineageId);
    this.#sweepAt = Math.max(FIRST_SWEEP_AT, 2 * this.size);
  }
}
