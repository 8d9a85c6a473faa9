import type { Job } from '../store.ts';
import type { StoreClock } from '../options.ts';

/**
 * A job as it is stored: with how long it had to wait when it was enqueued. One of an earlier
 * version has none.
 */
export interface StoredJob extends Job {
  readonly waitMs?: number;
}

/**
 * The wall clock is followed when it differs by more than this: slewing and the time between two
 * readings stay below.
 */
const TOLERANCE_MS = 20;

/**
 * Turns the wall times that jobs carry into a time that never jumps, at the moment they are
 * enqueued. What has been turned stays: setting the clock moves nothing that waits already.
 * @see decision 0020
 */
export class JobClock {
  private readonly clock: StoreClock;
  /**
   * Wall time less steady time. Kept while it is right, so that jobs keep the order of their times.
   */
  private offset: number;

  constructor(clock: StoreClock) {
    this.clock = clock;
    this.offset = clock.now().getTime() - clock.steadyMs();
  }

  /** In steady milliseconds, as every time that leaves this class. */
  now(): number {
    return this.clock.steadyMs();
  }

  /** For a job that is enqueued now. */
  enqueue(job: Job): { readonly stored: StoredJob; readonly dueAt: number } {
    const wall = this.clock.now().getTime();
    return {
      stored: { ...job, waitMs: Math.max(0, job.runAt - wall) },
      dueAt: this.dueAt(job.runAt, wall),
    };
  }

  /**
   * For a job found at a start: not longer than it had to wait at first, in case the clock was
   * wrong then and is right now.
   */
  restore({ runAt, waitMs }: StoredJob): number {
    const dueAt = this.dueAt(runAt, this.clock.now().getTime());
    return waitMs === undefined ? dueAt : Math.min(dueAt, this.now() + waitMs);
  }

  private dueAt(runAt: number, wall: number): number {
    const steady = this.clock.steadyMs();
    if (Math.abs(wall - steady - this.offset) > TOLERANCE_MS) this.offset = wall - steady;
    const dueAt = runAt - this.offset;
    return runAt <= wall ? Math.min(dueAt, steady) : dueAt;
  }
}
