import type { ClaimRequest, Job, QueueStats } from '../store.ts';
import type { Lease } from './jobLane.ts';
import { JobLane } from './jobLane.ts';

/**
 * Which durable jobs wait, in what order, and who has claimed what. It learns of a job when its
 * transaction is durable (`place`) and forgets it as soon as a transaction that changes it commits
 * (`withdraw`), so that it never hands out what is not certain. Leases are in memory only: with this
 * process its workers die too.
 */
export class WorkQueue {
  private readonly lanes = new Map<string, JobLane>();
  private readonly leases = new Map<string, Lease>();
  private readonly isCurrent: (job: Job) => boolean;

  /** @param isCurrent whether no committed transaction has changed the job since it was placed */
  constructor(isCurrent: (job: Job) => boolean) {
    this.isCurrent = isCurrent;
  }

  /** A durable job waits from now on, also when it was claimed. */
  place(job: Job): void {
    this.endLease(job.id);
    if (this.isCurrent(job)) this.lane(job.queue).add(job);
  }

  /** A committed transaction changed the job; a lease stays until that is durable, in case it never will be. */
  withdraw(job: Job): void {
    this.lanes.get(job.queue)?.remove(job);
  }

  endLease(id: string): void {
    const lease = this.leases.get(id);
    if (lease === undefined) return;
    this.leases.delete(id);
    this.lane(lease.job.queue).endLease(lease);
  }

  claim(request: ClaimRequest): Job[] {
    const lane = this.lane(request.queue);
    for (const { job } of lane.expired(request.now)) {
      this.leases.delete(job.id);
      if (this.isCurrent(job)) lane.add(job);
    }
    const jobs: Job[] = [];
    for (const job of lane.take(request)) {
      // At once: should `freeSlots` throw in the middle, the lease's end brings the job back.
      this.lease({ job, until: request.now + request.leaseMs });
      jobs.push(job);
    }
    return jobs;
  }

  nextRunAt(queue: string, skip: (group: string) => boolean): number | null {
    return this.lanes.get(queue)?.nextRunAt(skip) ?? null;
  }

  stats(now: number): Record<string, QueueStats> {
    return Object.fromEntries([...this.lanes].map(([name, lane]) => [name, lane.stats(now)]));
  }

  /** Takes over the leases of a queue whose memory was thrown away: its workers are still alive. */
  adopt(earlier: WorkQueue, find: (id: string) => Job | undefined): void {
    for (const { job: { id }, until } of earlier.leases.values()) {
      const job = find(id);
      if (job === undefined) continue;
      this.withdraw(job);
      this.lease({ job, until });
    }
  }

  private lease(lease: Lease): void {
    this.leases.set(lease.job.id, lease);
    this.lane(lease.job.queue).lease(lease);
  }

  private lane(queue: string): JobLane {
    let lane = this.lanes.get(queue);
    if (lane === undefined) {
      lane = new JobLane();
      this.lanes.set(queue, lane);
    }
    return lane;
  }
}
