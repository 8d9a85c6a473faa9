import type { Job } from '../../store.ts';
import type { StoreClock } from '../../clockAndLog.ts';

/** A stored job, with how long it had to wait when it was enqueued (not in earlier versions). */
export interface StoredJob extends Job {
  readonly waitMs?: number;
}

/**
 * The clock counts as set when wall time and steady time have moved apart by more. Less comes from
 * slewing, or from the time between two readings.
 */
const TOLERANCE_MS = 20;

/**
 * Turns a job's wall time into steady time when the job is enqueued. Setting the clock afterwards
 * does not move the jobs that wait already.
 * @see docs/decisions/0020-waits-use-a-monotonic-clock.md
 */
export class JobClock {
  private readonly clock: StoreClock;
  /** Wall time minus steady time. Kept unless the clock was set, so that jobs keep their order. */
  private offset: number;

  constructor(clock: StoreClock) {
    this.clock = clock;
    this.offset = clock.now().getTime() - clock.steadyMs();
  }

  /** In steady milliseconds, like every time that this class returns. */
  steadyNow(): number {
    return this.clock.steadyMs();
  }

  /** For a job that is enqueued now. */
  startWait(job: Job): { readonly stored: StoredJob; readonly dueAt: number } {
    const wall = this.clock.now().getTime();
    return {
      stored: { ...job, waitMs: Math.max(0, job.runAt - wall) },
      dueAt: this.dueAt(job.runAt, wall),
    };
  }

  /**
   * For a job that an earlier process enqueued. Even if the clock is wrong, the job waits no longer
   * than it had to when it was enqueued.
   */
  resumeWait({ runAt, waitMs }: StoredJob): number {
    const dueAt = this.dueAt(runAt, this.clock.now().getTime());
    return waitMs === undefined ? dueAt : Math.min(dueAt, this.steadyNow() + waitMs);
  }

  private dueAt(runAt: number, wall: number): number {
    const steady = this.clock.steadyMs();
    if (Math.abs(wall - steady - this.offset) > TOLERANCE_MS) this.offset = wall - steady;
    const dueAt = runAt - this.offset;
    // A job that is due by the wall clock is due now, even if the kept offset is slightly off.
    return runAt <= wall ? Math.min(dueAt, steady) : dueAt;
  }
}
