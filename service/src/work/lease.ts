import type { SteadyClock } from '../domain/clock.ts';

/**
 * How long what was claimed is this process's alone, as far as it can tell by itself. Begun before the claim is asked
 * for, so that it is never over later than the store's. A process that stood still or waited out an outage for longer
 * finds by it that another one may be at its work: what that one has begun was not interrupted.
 */
export class Lease {
  readonly #clock: SteadyClock;
  readonly #endsAt: number;

  constructor(clock: SteadyClock, ms: number) {
    this.#clock = clock;
    this.#endsAt = clock.steadyMs() + ms;
  }

  /** Then nothing must be begun any more; what is left undone is claimed again. */
  get isOver(): boolean {
    return this.#clock.steadyMs() > this.#endsAt;
  }
}
