import type { ClaimRequest, Job, QueueStats, SharedPlaces } from '../store.ts';
import type { ScheduledJob } from './jobGroup.ts';
import type { Lease } from './jobQueue.ts';
import { JobQueue } from './jobQueue.ts';
import type { StoredJob } from './jobClock.ts';

/**
 * Which durable jobs wait, in what order, and who has claimed what. It learns of a job when its
 * transaction is durable (`place`) and forgets it as soon as a transaction that changes it commits
 * (`withdraw`), so that it never hands out what is not certain. Leases are in memory only: with
 * this process its workers die too. All times are steady milliseconds.
 */
export class JobQueues {
  private readonly byName = new Map<string, JobQueue>();
  private readonly leases = new Map<string, Lease>();
  /**
   * By job id, as last placed, claimed or not: a time that was once counted is never counted anew.
   */
  private readonly placed = new Map<string, ScheduledJob>();
  private readonly isCurrent: (job: Job) => boolean;

  /** @param isCurrent whether no committed transaction has changed the job since it was placed */
  constructor(isCurrent: (job: Job) => boolean) {
    this.isCurrent = isCurrent;
  }

  /** A durable job waits from now on, also when it was claimed. */
  place(job: StoredJob, dueAt: number): void {
    this.endLease(job.id);
    const placed = { job, dueAt };
    this.placed.set(job.id, placed);
    if (this.isCurrent(job)) this.queueOf(job.queue).add(placed);
  }

  /**
   * A committed transaction changed the job; a lease stays until that is durable, in case it never
   * will be.
   */
  withdraw(job: Job): void {
    const placed = this.placed.get(job.id);
    if (placed?.job === job) this.byName.get(job.queue)?.remove(placed);
  }

  /** The job is gone for good. */
  forget(id: string): void {
    this.endLease(id);
    this.placed.delete(id);
  }

  claim({ queue, now, leaseMs, ...request }: ClaimRequest & { readonly now: number }): Job[] {
    const byGroup = this.queueOf(queue);
    for (const { placed } of byGroup.expired(now)) {
      this.leases.delete(placed.job.id);
      if (this.isCurrent(placed.job)) byGroup.add(placed);
    }
    const jobs: Job[] = [];
    for (const placed of byGroup.take({ ...request, now })) {
      // At once: should `freeSlots` throw in the middle, the lease's end brings the job back.
      this.lease({ placed, until: now + leaseMs });
      jobs.push(asEnqueued(placed.job));
    }
    return jobs;
  }

  nextDueAt(queue: string, skip: (group: string) => boolean, places?: SharedPlaces): number | null {
    return this.byName.get(queue)?.nextDueAt(skip, places) ?? null;
  }

  /** When a job that has not changed since is due; undefined when this queue has not seen it so. */
  dueAtOf({ id, runAt, rank }: Job): number | undefined {
    const placed = this.placed.get(id);
    return placed?.job.runAt === runAt && placed.job.rank === rank ? placed.dueAt : undefined;
  }

  stats(now: number, skip: (queue: string, group: string) => boolean): Record<string, QueueStats> {
    return Object.fromEntries(
      [...this.byName].map(([name, jobs]) => [name, jobs.stats(now, (group) => skip(name, group))]),
    );
  }

  /**
   * Takes over the leases of a queue whose memory was thrown away: its workers are still alive.
   * @param longerByMs they could not record anything for so long, and get that time again
   */
  adopt(earlier: JobQueues, longerByMs: number): void {
    for (const {
      placed: {
        job: { id },
      },
      until,
    } of earlier.leases.values()) {
      const placed = this.placed.get(id);
      if (placed === undefined) continue;
      this.withdraw(placed.job);
      this.lease({ placed, until: until + longerByMs });
    }
  }

  private endLease(id: string): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.queueOf(lease.placed.job.queue).endLease(lease);
  }

  private lease(lease: Lease): void {
    const { id, queue } = lease.placed.job;
    this.leases.set(id, lease);
    this.queueOf(queue).lease(lease);
  }

  private queueOf(queue: string): JobQueue {
    let jobs = this.byName.get(queue);
    if (jobs === undefined) {
      jobs = new JobQueue();
      this.byName.set(queue, jobs);
    }
    return jobs;
  }
}

const asEnqueued = ({ id, queue, group, runAt, rank, data }: StoredJob): Job => ({
  id,
  queue,
  group,
  runAt,
  rank,
  data,
});
