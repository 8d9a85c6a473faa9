import { shareOf, type ClaimRequest, type QueueStats, type SharedPlaces } from '../store.ts';
import type { ScheduledJob } from './jobGroup.ts';
import { JobGroup } from './jobGroup.ts';
import { JobShare } from './jobShare.ts';
import type { SortedTree } from './sortedTree.ts';
import { compareStrings, sortedTree } from './sortedTree.ts';

/** A claimed job. */
export interface Lease {
  readonly placed: ScheduledJob;
  /** The job can be claimed again after it. */
  readonly until: number;
}

const byWaking = (a: JobShare, b: JobShare): number =>
  a.wakeAt! - b.wakeAt! || compareStrings(a.name, b.name);
const byEnd = (a: Lease, b: Lease): number =>
  a.until - b.until || compareStrings(a.placed.job.id, b.placed.job.id);

/** What a claim asks of one queue, at a steady time. */
type Taking = Pick<ClaimRequest, 'limit' | 'freeSlots' | 'places'> & { readonly now: number };

/**
 * The jobs of one queue; all times are steady milliseconds. Shares whose groups all sleep are
 * sorted by the first one's time; those with due groups stand in a round. A claim touches only
 * shares that may take more, and of those only groups that are due: however many wait in one that
 * may take no more.
 */
export class JobQueue {
  private readonly groups = new Map<string, JobGroup>();
  private readonly shares = new Map<string, JobShare>();
  private readonly sleeping: SortedTree<JobShare> = sortedTree(byWaking);
  private readonly round = new Set<JobShare>();
  private readonly leases: SortedTree<Lease> = sortedTree(byEnd);
  private waiting = 0;

  add(placed: ScheduledJob): void {
    const group = this.group(placed.job.group);
    if (group.add(placed)) this.waiting += 1;
    if (!group.share.round.has(group)) this.sleep(group);
  }

  remove(placed: ScheduledJob): void {
    const group = this.groups.get(placed.job.group);
    if (group === undefined) return;
    if (group.remove(placed)) this.waiting -= 1;
    if (!group.share.round.has(group) || group.nextDueAt === null) this.sleep(group);
  }

  /** Takes due jobs out, one from each share in turn, first from those that hold fewest places. */
  *take({ limit, places, ...request }: Taking): Generator<ScheduledJob> {
    this.wake(request.now);
    let free = places?.free ?? Infinity;
    let left = limit;
    // By the places that they hold; one that gets a further place is put a row higher.
    const rows: Generator<ScheduledJob>[][] = [];
    for (const share of this.round)
      (rows[places?.heldBy(share.name) ?? 0] ??= []).push(this.takeFrom(share, request));
    for (let held = 0; held < rows.length; held += 1) {
      for (const jobs of rows[held] ?? []) {
        if (left <= 0 || held >= free) return;
        const { value: placed } = jobs.next();
        if (placed === undefined) continue;
        free -= 1;
        left -= 1;
        (rows[held + 1] ??= []).push(jobs);
        yield placed;
      }
    }
  }

  lease(lease: Lease): void {
    this.leases.set(lease, undefined);
  }

  endLease(lease: Lease): void {
    this.leases.delete(lease);
  }

  *expired(now: number): Generator<Lease> {
    for (
      let first = this.leases.minKey();
      first !== undefined && first.until <= now;
      first = this.leases.minKey()
    ) {
      this.leases.delete(first);
      yield first;
    }
  }

  nextDueAt(skip: (group: string) => boolean, places?: SharedPlaces): number | null {
    const mayTake = (share: string) => places === undefined || places.heldBy(share) < places.free;
    const waiting = this.oldestDueAt(skip, mayTake);
    for (const {
      placed: {
        job: { group },
      },
      until,
    } of this.leases.keys()) {
      if (mayTake(shareOf(group)) && !skip(group)) return Math.min(waiting ?? until, until);
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

  /** One job of each of its groups with a free slot, round after round. */
  private *takeFrom(
    share: JobShare,
    { now, freeSlots }: Pick<Taking, 'now' | 'freeSlots'>,
  ): Generator<ScheduledJob, undefined> {
    const slots = new Map<JobGroup, number>();
    // A group that has more is put behind the last one and so comes up again in this loop.
    for (const group of share.round) {
      const free = slots.get(group) ?? freeSlots(group.name);
      if (free <= 0) continue;
      const placed = group.takeDue(now);
      const next = group.nextDueAt;
      share.round.delete(group);
      if (placed !== null && next !== null && next <= now) share.round.add(group);
      else this.sleep(group);
      if (placed === null) continue;
      slots.set(group, free - 1);
      this.waiting -= 1;
      if (this.round.delete(share)) this.round.add(share);
      this.sort(share);
      yield placed;
    }
  }

  /**
   * When the first job that nobody has claimed is or was due, leaving out groups for which `skip`
   * holds; null: none waits.
   */
  private oldestDueAt(
    skip: (group: string) => boolean,
    isAsked: (share: string) => boolean = () => true,
  ): number | null {
    let oldest: number | null = null;
    for (const share of this.sleeping.keys()) {
      if (oldest !== null && share.wakeAt! >= oldest) break;
      if (!isAsked(share.name)) continue;
      for (const group of share.sleeping.keys()) {
        if (skip(group.name)) continue;
        oldest = oldest === null ? group.wakeAt : Math.min(oldest, group.wakeAt!);
        break;
      }
    }
    for (const share of this.round) {
      if (!isAsked(share.name)) continue;
      for (const { name, nextDueAt } of share.round) {
        if ((oldest === null || nextDueAt! < oldest) && !skip(name)) oldest = nextDueAt;
      }
    }
    return oldest;
  }

  private countDue(now: number, skip: (group: string) => boolean): number {
    let due = 0;
    for (const { sleeping, wakeAt } of this.sleeping.keys()) {
      if (wakeAt! > now) break;
      for (const group of sleeping.keys()) {
        if (group.wakeAt! > now) break;
        if (!skip(group.name)) due += group.countDue(now);
      }
    }
    for (const { round } of this.round) {
      for (const group of round) if (!skip(group.name)) due += group.countDue(now);
    }
    return due;
  }

  private wake(now: number): void {
    const first = () => this.sleeping.minKey();
    for (let share = first(); share !== undefined && share.wakeAt! <= now; share = first()) {
      share.wake(now);
      this.round.add(share);
      this.sort(share);
    }
  }

  private group(name: string): JobGroup {
    let group = this.groups.get(name);
    if (group === undefined)
      this.groups.set(name, (group = new JobGroup(name, this.share(shareOf(name)))));
    return group;
  }

  private share(name: string): JobShare {
    let share = this.shares.get(name);
    if (share === undefined) this.shares.set(name, (share = new JobShare(name)));
    return share;
  }

  /** Sorts the group by its next job's time; one without jobs is forgotten. */
  private sleep(group: JobGroup): void {
    const { share, nextDueAt: next } = group;
    if (group.wakeAt !== null && group.wakeAt === next) return;
    if (group.wakeAt !== null) share.sleeping.delete(group);
    share.round.delete(group);
    group.wakeAt = next;
    if (next === null) this.groups.delete(group.name);
    else share.sleeping.set(group, undefined);
    this.sort(share);
  }

  /** Sorts the share by its first sleeping group; one without groups is forgotten. */
  private sort(share: JobShare): void {
    const next = share.nextWakeAt;
    if (share.wakeAt !== next) {
      if (share.wakeAt !== null) this.sleeping.delete(share);
      share.wakeAt = next;
      if (next !== null) this.sleeping.set(share, undefined);
    }
    if (share.round.size > 0) return;
    this.round.delete(share);
    if (next === null) this.shares.delete(share.name);
  }
}
