import type { ClaimRequest, Job, QueueStats } from '../store.ts';
import { JobGroup } from './jobGroup.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** A claimed job. */
export interface Lease {
  readonly job: Job;
  /** Milliseconds since the epoch; the job can be claimed again after it. */
  readonly until: number;
}

const byWaking = (a: JobGroup, b: JobGroup): number => a.wakeAt! - b.wakeAt! || compareStrings(a.name, b.name);
const byEnd = (a: Lease, b: Lease): number => a.until - b.until || compareStrings(a.job.id, b.job.id);

/**
 * The jobs of one queue. Groups sleep, sorted by their next job's time, until they are due; then they
 * stand in a round and are served in turn. A claim touches only groups that are due.
 */
export class JobLane {
  private readonly groups = new Map<string, JobGroup>();
  private readonly sleeping: SortedTree<JobGroup> = sortedTree(byWaking);
  private readonly round = new Set<JobGroup>();
  private readonly leases: SortedTree<Lease> = sortedTree(byEnd);
  private waiting = 0;

  add(job: Job): void {
    let group = this.groups.get(job.group);
    if (group === undefined) {
      group = new JobGroup(job.group);
      this.groups.set(job.group, group);
    }
    if (group.add(job)) this.waiting += 1;
    if (!this.round.has(group)) this.sleep(group);
  }

  remove(job: Job): void {
    const group = this.groups.get(job.group);
    if (group === undefined) return;
    if (group.remove(job)) this.waiting -= 1;
    if (!this.round.has(group) || group.nextRunAt === null) this.sleep(group);
  }

  /** Takes due jobs out, one from each group with a free slot, round after round. */
  *take({ now, limit, freeSlots }: ClaimRequest): Generator<Job> {
    this.wake(now);
    const slots = new Map<JobGroup, number>();
    let taken = 0;
    // A group that has more is put behind the last one and so comes up again in this loop.
    for (const group of this.round) {
      if (taken >= limit) return;
      const free = slots.get(group) ?? freeSlots(group.name);
      if (free <= 0) continue;
      const job = group.takeDue(now);
      const next = group.nextRunAt;
      this.round.delete(group);
      if (job !== null && next !== null && next <= now) this.round.add(group);
      else this.sleep(group);
      if (job === null) continue;
      slots.set(group, free - 1);
      this.waiting -= 1;
      taken += 1;
      yield job;
    }
  }

  lease(lease: Lease): void {
    this.leases.set(lease, undefined);
  }

  endLease(lease: Lease): void {
    this.leases.delete(lease);
  }

  *expired(now: number): Generator<Lease> {
    for (let first = this.leases.minKey(); first !== undefined && first.until <= now; first = this.leases.minKey()) {
      this.leases.delete(first);
      yield first;
    }
  }

  nextRunAt(skip: (group: string) => boolean): number | null {
    const times: number[] = [];
    for (const group of this.round) if (!skip(group.name)) times.push(group.nextRunAt!);
    for (const group of this.sleeping.keys()) {
      if (skip(group.name)) continue;
      times.push(group.wakeAt!);
      break;
    }
    for (const { job, until } of this.leases.keys()) {
      if (skip(job.group)) continue;
      times.push(until);
      break;
    }
    return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b));
  }

  stats(now: number): QueueStats {
    const oldest = this.nextRunAtUnclaimed();
    return {
      waiting: this.waiting,
      claimed: this.leases.size,
      oldestDueMs: oldest === null || oldest > now ? null : now - oldest,
    };
  }

  private nextRunAtUnclaimed(): number | null {
    let next = this.sleeping.minKey()?.wakeAt ?? null;
    for (const { nextRunAt } of this.round) if (next === null || nextRunAt! < next) next = nextRunAt;
    return next;
  }

  private wake(now: number): void {
    for (let first = this.sleeping.minKey(); first !== undefined && first.wakeAt! <= now; first = this.sleeping.minKey()) {
      this.sleeping.delete(first);
      first.wakeAt = null;
      this.round.add(first);
    }
  }

  /** Sorts the group by its next job's time; one without jobs is forgotten. */
  private sleep(group: JobGroup): void {
    const next = group.nextRunAt;
    if (group.wakeAt !== null && group.wakeAt === next) return;
    if (group.wakeAt !== null) this.sleeping.delete(group);
    this.round.delete(group);
    group.wakeAt = next;
    if (next === null) this.groups.delete(group.name);
    else this.sleeping.set(group, undefined);
  }
}
