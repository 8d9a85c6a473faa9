import type { Job } from '../store.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

const byTime = (a: Job, b: Job): number => a.runAt - b.runAt || compareStrings(a.id, b.id);

/**
 * The waiting jobs of one group, a tree for each rank: due jobs of a lower rank are found first,
 * and thousands of jobs of one rank that wait for their time do not stand before those of another.
 */
export class JobGroup {
  readonly name: string;
  /** When the group's queue looks at it again; null while it is in the round of those that are due. */
  wakeAt: number | null = null;
  private readonly ranks: { readonly rank: number; readonly jobs: SortedTree<Job> }[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** @returns whether it was not there before */
  add(job: Job): boolean {
    let row = this.ranks.find(({ rank }) => rank === job.rank);
    if (row === undefined) {
      row = { rank: job.rank, jobs: sortedTree(byTime) };
      this.ranks.push(row);
      this.ranks.sort((a, b) => a.rank - b.rank);
    }
    return row.jobs.set(job, undefined);
  }

  /** @returns whether it was there */
  remove(job: Job): boolean {
    const at = this.ranks.findIndex(({ rank }) => rank === job.rank);
    if (at === -1) return false;
    const { jobs } = this.ranks[at]!;
    const was = jobs.delete(job);
    if (jobs.size === 0) this.ranks.splice(at, 1);
    return was;
  }

  /** Takes out the job whose turn it is. */
  takeDue(now: number): Job | null {
    for (const { jobs } of this.ranks) {
      const job = jobs.minKey()!;
      if (job.runAt > now) continue;
      this.remove(job);
      return job;
    }
    return null;
  }

  /** Null: no job waits. */
  get nextRunAt(): number | null {
    if (this.ranks.length === 0) return null;
    return Math.min(...this.ranks.map(({ jobs }) => jobs.minKey()!.runAt));
  }
}
