import type { SteadyClock } from '../domain/clock.ts';

/** Time to record the result of an attempt. */
const RECORD_MS = 10_000;

/**
 * How long claimed jobs belong to this process alone, by its own clock. It counts from before the
 * claim was sent, so it ends no later than the store's lease. After a pause or an outage, the
 * process sees here that another one may have taken over its jobs.
 */
export class Lease {
  readonly #clock: SteadyClock;
  readonly #endsAt: number;

  constructor(clock: SteadyClock, ms: number) {
    this.#clock = clock;
    this.#endsAt = clock.steadyMs() + ms;
  }

  /** Whether an attempt of this length ends, and is recorded, before another process may claim. */
  covers(attemptMs: number): boolean {
    return this.#clock.steadyMs() + attemptMs + RECORD_MS <= this.#endsAt;
  }
}
