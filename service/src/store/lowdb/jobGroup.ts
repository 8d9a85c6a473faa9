import type { JobShare } from './jobShare.ts';
import type { StoredJob } from './jobClock.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** A job with the time from which it can be claimed, in steady milliseconds. */
export interface ScheduledJob {
  readonly job: StoredJob;
  readonly dueAt: number;
}

const byTime = (a: ScheduledJob, b: ScheduledJob): number =>
  a.dueAt - b.dueAt || compareStrings(a.job.id, b.job.id);

/**
 * Of so many jobs taken, one is of the highest rank that is due: lower ones without end must not
 * starve it.
 */
const OTHERS_TURN = 8;

/**
 * The waiting jobs of one group, a tree for each rank: due jobs of a lower rank are found first,
 * and thousands of jobs of one rank that wait for their time do not stand before those of another.
 */
export class JobGroup {
  readonly name: string;
  readonly share: JobShare;
  /**
   * When the group's share looks at it again; null while it is in the round of those that are due.
   */
  wakeAt: number | null = null;
  private readonly ranks: { readonly rank: number; readonly jobs: SortedTree<ScheduledJob> }[] = [];

  /** How often in a row a due job of a higher rank has had to wait. */
  private passedOver = 0;

  constructor(name: string, share: JobShare) {
    this.name = name;
    this.share = share;
  }

  /** @returns whether it was not there before */
  add(placed: ScheduledJob): boolean {
    const { rank } = placed.job;
    let row = this.ranks.find((each) => each.rank === rank);
    if (row === undefined) {
      row = { rank, jobs: sortedTree(byTime) };
      this.ranks.push(row);
      this.ranks.sort((a, b) => a.rank - b.rank);
    }
    return row.jobs.set(placed, undefined);
  }

  /** @returns whether it was there */
  remove(placed: ScheduledJob): boolean {
    const at = this.ranks.findIndex(({ rank }) => rank === placed.job.rank);
    if (at === -1) return false;
    const { jobs } = this.ranks[at]!;
    const was = jobs.delete(placed);
    if (jobs.size === 0) this.ranks.splice(at, 1);
    return was;
  }

  /** Takes out the job whose turn it is. */
  takeDue(now: number): ScheduledJob | null {
    let first: ScheduledJob | null = null;
    let last: ScheduledJob | null = null;
    for (const { jobs } of this.ranks) {
      const placed = jobs.minKey()!;
      if (placed.dueAt > now) continue;
      first ??= placed;
      last = placed;
    }
    if (first === null || last === null) return null;
    const isTurnOfLast = first === last || ++this.passedOver >= OTHERS_TURN;
    if (isTurnOfLast) this.passedOver = 0;
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

  /** Null: no job waits. */
  get nextDueAt(): number | null {
    if (this.ranks.length === 0) return null;
    return Math.min(...this.ranks.map(({ jobs }) => jobs.minKey()!.dueAt));
  }
}
