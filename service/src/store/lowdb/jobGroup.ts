import type { JobShare } from './jobQueue.ts';
import type { StoredJob } from './jobClock.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** A job and when it can be claimed, in steady milliseconds. */
export interface ScheduledJob {
  readonly job: StoredJob;
  readonly dueAt: number;
}

const byTime = (a: ScheduledJob, b: ScheduledJob): number =>
  a.dueAt - b.dueAt || compareStrings(a.job.id, b.job.id);

/** After so many jobs of lower ranks, a due job of the highest rank goes first. */
const MAX_PASSED_OVER = 7;

/**
 * The waiting jobs of one group, in a tree for each rank: due jobs of the lowest rank are found
 * first, however many jobs of another rank wait for their time.
 */
export class JobGroup {
  readonly name: string;
  readonly share: JobShare;
  /** When it wakes up; null while it is awake. */
  wakeAt: number | null = null;
  private readonly ranks: { readonly rank: number; readonly jobs: SortedTree<ScheduledJob> }[] = [];
  /** How many times in a row a due job of a higher rank had to wait. */
  private passedOver = 0;

  constructor(name: string, share: JobShare) {
    this.name = name;
    this.share = share;
  }

  /** @returns whether the job is new here */
  add(scheduled: ScheduledJob): boolean {
    const { rank } = scheduled.job;
    let row = this.ranks.find((each) => each.rank === rank);
    if (row === undefined) {
      row = { rank, jobs: sortedTree(byTime) };
      this.ranks.push(row);
      this.ranks.sort((a, b) => a.rank - b.rank);
    }
    return row.jobs.set(scheduled, undefined);
  }

  /** @returns whether the job was here */
  remove(scheduled: ScheduledJob): boolean {
    const at = this.ranks.findIndex(({ rank }) => rank === scheduled.job.rank);
    if (at === -1) return false;
    const { jobs } = this.ranks[at]!;
    const was = jobs.delete(scheduled);
    if (jobs.size === 0) this.ranks.splice(at, 1);
    return was;
  }

  /** Removes and returns the job whose turn it is; null when none is due. */
  takeDue(now: number): ScheduledJob | null {
    let first: ScheduledJob | null = null;
    let last: ScheduledJob | null = null;
    for (const { jobs } of this.ranks) {
      const next = jobs.minKey()!;
      if (next.dueAt > now) continue;
      first ??= next;
      last = next;
    }
    if (first === null || last === null) return null;
    const isTurnOfLast = first === last || this.passedOver >= MAX_PASSED_OVER;
    this.passedOver = isTurnOfLast ? 0 : this.passedOver + 1;
    const taken = isTurnOfLast ? last : first;
    this.remove(taken);
    return taken;
  }

  countDue(now: number): number {
    let due = 0;
    for (const { jobs } of this.ranks) {
      for (const { dueAt } of jobs.keys()) {
        if (dueAt > now) break;
        due += 1;
      }
    }
    return due;
  }

  /** Null when no job waits. */
  get nextDueAt(): number | null {
    if (this.ranks.length === 0) return null;
    return Math.min(...this.ranks.map(({ jobs }) => jobs.minKey()!.dueAt));
  }
}
