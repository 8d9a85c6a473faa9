import type { SteadyClock } from '../domain/clock.ts';

/** For recording what an attempt came to. */
const RECORD_MS = 10_000;

/**
 * How long what was claimed is this process's alone, as far as it can tell by itself: from before
 * the claim is asked for, so that it ends no later than the store's. A process that stood still or
 * waited out an outage finds by it that another one may be at its work, or would be before an
 * attempt has ended: what is under way then was not interrupted.
 */
export class Lease {
  readonly #clock: SteadyClock;
  readonly #endsAt: number;

  constructor(clock: SteadyClock, ms: number) {
    this.#clock = clock;
    this.#endsAt = clock.steadyMs() + ms;
  }

  /**
   * An attempt that takes so long is over and on record before anybody else can claim it. What is
   * not begun is claimed again.
   */
  covers(attemptMs: number): boolean {
    return this.#clock.steadyMs() + attemptMs + RECORD_MS <= this.#endsAt;
  }
}
