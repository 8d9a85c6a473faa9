import type { ClaimRequest, QueueStats } from '../store.ts';
import type { Placed } from './jobGroup.ts';
import { JobGroup } from './jobGroup.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** A claimed job. */
export interface Lease {
  readonly placed: Placed;
  /** The job can be claimed again after it. */
  readonly until: number;
}

const byWaking = (a: JobGroup, b: JobGroup): number => a.wakeAt! - b.wakeAt! || compareStrings(a.name, b.name);
const byEnd = (a: Lease, b: Lease): number => a.until - b.until || compareStrings(a.placed.job.id, b.placed.job.id);

/**
 * The jobs of one queue; all times are steady milliseconds. Groups sleep, sorted by their next job's time, until they are due; then they
 * stand in a round and are served in turn. A claim touches only groups that are due.
 */
export class JobLane {
  private readonly groups = new Map<string, JobGroup>();
  private readonly sleeping: SortedTree<JobGroup> = sortedTree(byWaking);
  private readonly round = new Set<JobGroup>();
  private readonly leases: SortedTree<Lease> = sortedTree(byEnd);
  private waiting = 0;

  add(placed: Placed): void {
    const name = placed.job.group;
    let group = this.groups.get(name);
    if (group === undefined) {
      group = new JobGroup(name);
      this.groups.set(name, group);
    }
    if (group.add(placed)) this.waiting += 1;
    if (!this.round.has(group)) this.sleep(group);
  }

  remove(placed: Placed): void {
    const group = this.groups.get(placed.job.group);
    if (group === undefined) return;
    if (group.remove(placed)) this.waiting -= 1;
    if (!this.round.has(group) || group.nextDueAt === null) this.sleep(group);
  }

  /** Takes due jobs out, one from each group with a free slot, round after round. */
  *take({ now, limit, freeSlots }: Pick<ClaimRequest, 'limit' | 'freeSlots'> & { readonly now: number }): Generator<Placed> {
    this.wake(now);
    const slots = new Map<JobGroup, number>();
    let taken = 0;
    // A group that has more is put behind the last one and so comes up again in this loop.
    for (const group of this.round) {
      if (taken >= limit) return;
      const free = slots.get(group) ?? freeSlots(group.name);
      if (free <= 0) continue;
      const placed = group.takeDue(now);
      const next = group.nextDueAt;
      this.round.delete(group);
      if (placed !== null && next !== null && next <= now) this.round.add(group);
      else this.sleep(group);
      if (placed === null) continue;
      slots.set(group, free - 1);
      this.waiting -= 1;
      taken += 1;
      yield placed;
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

  nextDueAt(skip: (group: string) => boolean): number | null {
    const waiting = this.oldestDueAt(skip);
    for (const { placed, until } of this.leases.keys()) {
      if (!skip(placed.job.group)) return Math.min(waiting ?? until, until);
    }
    return waiting;
  }

  stats(now: number, skip: (group: string) => boolean): QueueStats {
    const oldest = this.oldestDueAt(skip);
    const countDue = () => this.countDue(now, skip);
    return {
      waiting: this.waiting,
      // Only for whoever asks for it: they are gone through.
      get due() {
        return countDue();
      },
      claimed: this.leases.size,
      oldestDueMs: oldest === null || oldest > now ? null : now - oldest,
    };
  }

  /** When the first job that nobody has claimed is or was due, leaving out groups for which `skip` holds; null: none waits. */
  private oldestDueAt(skip: (group: string) => boolean): number | null {
    let oldest: number | null = null;
    for (const group of this.sleeping.keys()) {
      if (skip(group.name)) continue;
      oldest = group.wakeAt;
      break;
    }
    for (const { name, nextDueAt } of this.round) {
      if ((oldest === null || nextDueAt! < oldest) && !skip(name)) oldest = nextDueAt;
    }
    return oldest;
  }

  private countDue(now: number, skip: (group: string) => boolean): number {
    let due = 0;
    for (const group of this.sleeping.keys()) {
      if (group.wakeAt! > now) break;
      if (!skip(group.name)) due += group.countDue(now);
    }
    for (const group of this.round) if (!skip(group.name)) due += group.countDue(now);
    return due;
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
    const next = group.nextDueAt;
    if (group.wakeAt !== null && group.wakeAt === next) return;
    if (group.wakeAt !== null) this.sleeping.delete(group);
    this.round.delete(group);
    group.wakeAt = next;
    if (next === null) this.groups.delete(group.name);
    else this.sleeping.set(group, undefined);
  }
}
