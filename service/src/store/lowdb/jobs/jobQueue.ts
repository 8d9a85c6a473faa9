import { compareText } from '../../../platform/compareText.ts';
import { shareOf, type ClaimRequest, type QueueStats, type SharedPlaces } from '../../store.ts';
import type { StoredJob } from './jobClock.ts';
import { type SortedTree, sortedTree } from '../sortedTree.ts';

/** A job and when it can be claimed, in steady milliseconds. */
export interface ScheduledJob {
  readonly job: StoredJob;
  readonly dueAt: number;
}

const byTime = (a: ScheduledJob, b: ScheduledJob): number =>
  a.dueAt - b.dueAt || compareText(a.job.id, b.job.id);

/** After this many jobs of lower ranks, a due job of the highest rank goes first. */
const MAX_PASSED_OVER = 7;

/**
 * The waiting jobs of one group, in a tree for each rank: due jobs of the lowest rank are found
 * first, however many jobs of another rank wait for their time.
 */
class JobGroup {
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
    const wasHere = jobs.delete(scheduled);
    if (jobs.size === 0) this.ranks.splice(at, 1);
    return wasHere;
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

/** A claimed job. */
export interface Lease {
  readonly scheduled: ScheduledJob;
  /** When the job can be claimed again. */
  readonly until: number;
}

interface Sleeper {
  readonly name: string;
  readonly wakeAt: number | null;
}
const byWakeTime = (a: Sleeper, b: Sleeper): number =>
  a.wakeAt! - b.wakeAt! || compareText(a.name, b.name);
const byEnd = (a: Lease, b: Lease): number =>
  a.until - b.until || compareText(a.scheduled.job.id, b.scheduled.job.id);

/** A claim on one queue. `now` is in steady milliseconds. */
type TakeRequest = Pick<ClaimRequest, 'limit' | 'freeSlots' | 'places'> & { readonly now: number };

/** The groups of one share: those that sleep, by their next job's time, and those that are due. */
class JobShare {
  readonly name: string;
  readonly sleeping: SortedTree<JobGroup> = sortedTree<JobGroup>(byWakeTime);
  /** Served in turn. */
  readonly awake = new Set<JobGroup>();
  /** The `nextWakeAt` by which the queue has sorted this share; null while no group sleeps. */
  wakeAt: number | null = null;

  constructor(name: string) {
    this.name = name;
  }

  /** When the first sleeping group wakes up. */
  get nextWakeAt(): number | null {
    return this.sleeping.minKey()?.wakeAt ?? null;
  }

  wake(now: number): void {
    const first = () => this.sleeping.minKey();
    for (let group = first(); group !== undefined && group.wakeAt! <= now; group = first()) {
      this.sleeping.delete(group);
      group.wakeAt = null;
      this.awake.add(group);
    }
  }
}

/**
 * The jobs of one queue; all times are steady milliseconds. A claim touches only shares that may
 * take more, and of those only groups that are due, however many jobs wait elsewhere.
 */
export class JobQueue {
  private readonly groups = new Map<string, JobGroup>();
  private readonly shares = new Map<string, JobShare>();
  private readonly sleeping: SortedTree<JobShare> = sortedTree<JobShare>(byWakeTime);
  private readonly awake = new Set<JobShare>();
  private readonly leases: SortedTree<Lease> = sortedTree(byEnd);
  private waiting = 0;

  add(scheduled: ScheduledJob): void {
    const group = this.group(scheduled.job.group);
    if (group.add(scheduled)) this.waiting += 1;
    if (!group.share.awake.has(group)) this.sleep(group);
  }

  remove(scheduled: ScheduledJob): void {
    const group = this.groups.get(scheduled.job.group);
    if (group === undefined) return;
    if (group.remove(scheduled)) this.waiting -= 1;
    if (!group.share.awake.has(group) || group.nextDueAt === null) this.sleep(group);
  }

  /**
   * Removes and yields due jobs, one from each share in turn; shares with few places come first.
   */
  *take({ limit, places, ...request }: TakeRequest): Generator<ScheduledJob> {
    this.wake(request.now);
    let free = places?.free ?? Infinity;
    let left = limit;
    // Row n has the shares that hold n places. A share that gets a place moves to the next row.
    const rows: Generator<ScheduledJob>[][] = [];
    for (const share of this.awake)
      (rows[places?.heldBy(share.name) ?? 0] ??= []).push(this.takeFrom(share, request));
    for (let held = 0; held < rows.length; held += 1) {
      for (const jobs of rows[held] ?? []) {
        if (left <= 0 || held >= free) return;
        const { value: scheduled } = jobs.next();
        if (scheduled === undefined) continue;
        free -= 1;
        left -= 1;
        (rows[held + 1] ??= []).push(jobs);
        yield scheduled;
      }
    }
  }

  lease(lease: Lease): void {
    this.leases.set(lease, undefined);
  }

  endLease(lease: Lease): void {
    this.leases.delete(lease);
  }

  /** Leases that have run out, the earliest first. Their jobs can be claimed. */
  expired(now: number): readonly Lease[] {
    const expired: Lease[] = [];
    for (const lease of this.leases.keys()) {
      if (lease.until > now) break;
      expired.push(lease);
    }
    return expired;
  }

  nextDueAt(skip: (group: string) => boolean, places?: SharedPlaces): number | null {
    const mayTake = (share: string) => places === undefined || places.heldBy(share) < places.free;
    const waiting = this.oldestDueAt(skip, mayTake);
    for (const { scheduled, until } of this.leases.keys()) {
      const { group } = scheduled.job;
      if (mayTake(shareOf(group)) && !skip(group)) return Math.min(waiting ?? until, until);
    }
    return waiting;
  }

  stats(now: number): QueueStats {
    const expired = this.expired(now);
    const dueAt = Math.min(this.oldestDueAt() ?? Infinity, expired[0]?.until ?? Infinity);
    const countDue = () => this.countDue(now) + expired.length;
    return {
      waiting: this.waiting + expired.length,
      // Computed on demand, because it walks through the due jobs.
      get due() {
        return countDue();
      },
      claimed: this.leases.size - expired.length,
      oldestDueMs: dueAt > now ? null : now - dueAt,
    };
  }

  /** Yields due jobs, one from each group with a free slot in turn, until none is left. */
  private *takeFrom(
    share: JobShare,
    { now, freeSlots }: Pick<TakeRequest, 'now' | 'freeSlots'>,
  ): Generator<ScheduledJob, undefined> {
    const slots = new Map<JobGroup, number>();
    // A group with more due jobs moves to the end of the set, and so comes up again in this loop.
    for (const group of share.awake) {
      const free = slots.get(group) ?? freeSlots(group.name);
      if (free <= 0) continue;
      const scheduled = group.takeDue(now);
      const next = group.nextDueAt;
      share.awake.delete(group);
      if (scheduled !== null && next !== null && next <= now) share.awake.add(group);
      else this.sleep(group);
      if (scheduled === null) continue;
      slots.set(group, free - 1);
      this.waiting -= 1;
      // If it is still awake, it goes to the end of the order in which shares take turns.
      if (this.awake.delete(share)) this.awake.add(share);
      this.reposition(share);
      yield scheduled;
    }
  }

  /**
   * When the first unclaimed job is or was due, leaving out groups to `skip`; null when none waits.
   */
  private oldestDueAt(
    skip: (group: string) => boolean = () => false,
    mayTake: (share: string) => boolean = () => true,
  ): number | null {
    let oldest: number | null = null;
    for (const share of this.sleeping.keys()) {
      if (oldest !== null && share.wakeAt! >= oldest) break;
      if (!mayTake(share.name)) continue;
      for (const group of share.sleeping.keys()) {
        if (skip(group.name)) continue;
        oldest = oldest === null ? group.wakeAt : Math.min(oldest, group.wakeAt!);
        break;
      }
    }
    for (const share of this.awake) {
      if (!mayTake(share.name)) continue;
      for (const { name, nextDueAt } of share.awake) {
        if ((oldest === null || nextDueAt! < oldest) && !skip(name)) oldest = nextDueAt;
      }
    }
    return oldest;
  }

  private countDue(now: number): number {
    let due = 0;
    for (const { sleeping, wakeAt } of this.sleeping.keys()) {
      if (wakeAt! > now) break;
      for (const group of sleeping.keys()) {
        if (group.wakeAt! > now) break;
        due += group.countDue(now);
      }
    }
    for (const { awake } of this.awake) {
      for (const group of awake) due += group.countDue(now);
    }
    return due;
  }

  private wake(now: number): void {
    const first = () => this.sleeping.minKey();
    for (let share = first(); share !== undefined && share.wakeAt! <= now; share = first()) {
      share.wake(now);
      this.awake.add(share);
      this.reposition(share);
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

  /** Lets the group sleep until its next job is due. Removes a group without jobs. */
  private sleep(group: JobGroup): void {
    const { share, nextDueAt: next } = group;
    if (group.wakeAt !== null && group.wakeAt === next) return;
    if (group.wakeAt !== null) share.sleeping.delete(group);
    share.awake.delete(group);
    group.wakeAt = next;
    if (next === null) this.groups.delete(group.name);
    else share.sleeping.set(group, undefined);
    this.reposition(share);
  }

  /** Sorts the share by when its first group wakes up. Removes a share without groups. */
  private reposition(share: JobShare): void {
    const next = share.nextWakeAt;
    if (share.wakeAt !== next) {
      if (share.wakeAt !== null) this.sleeping.delete(share);
      share.wakeAt = next;
      if (next !== null) this.sleeping.set(share, undefined);
    }
    if (share.awake.size > 0) return;
    this.awake.delete(share);
    if (next === null) this.shares.delete(share.name);
  }
}
