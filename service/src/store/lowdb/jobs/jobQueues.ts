import { plainJob } from '../../document.ts';
import type { ClaimRequest, Job, QueueStats, SharedPlaces } from '../../store.ts';
import { type ScheduledJob, type Lease, JobQueue } from './jobQueue.ts';
import type { StoredJob } from './jobClock.ts';

/**
 * The durable jobs of all queues and the leases of those that are claimed. A job enters when its
 * transaction is durable (`schedule`) and leaves as soon as a transaction that changes it commits
 * (`withdraw`), so that nothing uncertain is handed out. Leases are in memory only: this process's
 * workers end with it. All times are steady milliseconds.
 */
export class JobQueues {
  private readonly byName = new Map<string, JobQueue>();
  private readonly leases = new Map<string, Lease>();
  /** By job id, claimed or not. Each time is converted to steady time only once. */
  private readonly scheduled = new Map<string, ScheduledJob>();
  private readonly isCurrent: (job: Job) => boolean;

  /**
   * @param isCurrent whether no committed transaction has changed the job since it was scheduled
   */
  constructor(isCurrent: (job: Job) => boolean) {
    this.isCurrent = isCurrent;
  }

  /** A durable job waits from now on, even if it was claimed before. */
  schedule(job: StoredJob, dueAt: number): void {
    this.endLease(job.id);
    const scheduled = { job, dueAt };
    this.scheduled.set(job.id, scheduled);
    if (this.isCurrent(job)) this.queueOf(job.queue).add(scheduled);
  }

  /** A committed transaction changed the job. The lease stays until the change is durable. */
  withdraw(job: Job): void {
    const scheduled = this.scheduled.get(job.id);
    if (scheduled?.job === job) this.byName.get(job.queue)?.remove(scheduled);
  }

  /** The job is gone for good. */
  forget(id: string): void {
    this.endLease(id);
    this.scheduled.delete(id);
  }

  claim({ queue, now, leaseMs, ...request }: ClaimRequest & { readonly now: number }): Job[] {
    const jobQueue = this.queueOf(queue);
    for (const { scheduled } of jobQueue.expired(now)) {
      this.endLease(scheduled.job.id);
      if (this.isCurrent(scheduled.job)) jobQueue.add(scheduled);
    }
    const jobs: Job[] = [];
    for (const scheduled of jobQueue.take({ ...request, now })) {
      // Leased at once: if `freeSlots` throws later, the job comes back when the lease ends.
      this.lease({ scheduled, until: now + leaseMs });
      jobs.push(plainJob(scheduled.job));
    }
    return jobs;
  }

  nextDueAt(queue: string, skip: (group: string) => boolean, places?: SharedPlaces): number | null {
    return this.byName.get(queue)?.nextDueAt(skip, places) ?? null;
  }

  /** When the job is due; undefined if its time or rank has changed since it was scheduled. */
  dueAtOf({ id, runAt, rank }: Job): number | undefined {
    const scheduled = this.scheduled.get(id);
    return scheduled?.job.runAt === runAt && scheduled.job.rank === rank
      ? scheduled.dueAt
      : undefined;
  }

  stats(now: number): Record<string, QueueStats> {
    return Object.fromEntries([...this.byName].map(([name, jobs]) => [name, jobs.stats(now)]));
  }

  /**
   * Takes over the leases that were given before the files were read again: their workers still
   * run.
   * @param earlier the queues of that time
   * @param longerByMs how long the workers could not record anything; their leases get that time
   * back
   */
  adopt(earlier: JobQueues, longerByMs: number): void {
    for (const lease of earlier.leases.values()) {
      const scheduled = this.scheduled.get(lease.scheduled.job.id);
      if (scheduled === undefined) continue;
      this.withdraw(scheduled.job);
      this.lease({ scheduled, until: lease.until + longerByMs });
    }
  }

  private endLease(id: string): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.queueOf(lease.scheduled.job.queue).endLease(lease);
  }

  private lease(lease: Lease): void {
    const { id, queue } = lease.scheduled.job;
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
