import type { Logger } from 'pino';
import type { ServiceStore } from '../../store/collections.ts';
import type { SteadyClock } from '../clock.ts';
import type { Deps } from '../deps.ts';
import type { BoundName } from '../limits/bounds.ts';
import { FairPool } from '../limits/fairPool.ts';
import { shareOf, StoreUnavailable, type Job } from '../../store/store.ts';
import { retryThroughOutage, type Retry } from './outageRetry.ts';

/** What operations are given, with the store's queues and a clock that measures leases. */
export interface WorkDeps extends Deps {
  readonly store: ServiceStore;
  readonly clock: SteadyClock;
}

/** What every worker is given. */
export interface Work {
  readonly deps: WorkDeps;
  readonly log: Logger;
}

interface WorkerOptions {
  readonly deps: Pick<WorkDeps, 'clock' | 'bounds'> & {
    readonly store: Pick<ServiceStore, 'claim' | 'msUntilDue' | 'onWork'>;
  };
  readonly log: Logger;
  readonly queue: string;
  /**
   * Jobs of one workspace under way at once while no other workspace has any. All workspaces
   * together have up to twice as many, so that there is always a place for one more workspace.
   */
  readonly maxPerWorkspace: number;
  /** How many jobs of a group may start at the next claim. Default: one. */
  readonly freeInGroup?: (group: string, underWay: number) => number;
  /** Reported when a workspace has its full share of the places and more jobs waiting. */
  readonly bound?: BoundName;
  /** A job that takes longer is claimed again. */
  readonly leaseMs: number;
  /** How long jobs under way may take to end after a stop before they are aborted. */
  readonly drainMs?: number;
  /** Does one job and completes or releases it. A job that does neither is claimed again. */
  readonly run: (job: Job, context: JobContext) => Promise<void>;
  /** What to log when `run` throws, and the field that names the job. */
  readonly onFailure: { readonly message: string; readonly idField: string };
}

export interface JobContext {
  readonly lease: Lease;
  /** Aborted when the worker is stopping and no longer waits for the job. */
  readonly signal: AbortSignal;
  /** Repeats a read or write until the store is available again. */
  readonly retry: Retry;
}

/**
 * How much longer a lease is than the longest attempt, so that the result can still be recorded.
 */
export const LEASE_MARGIN_MS = 30_000;
const DRAIN_MS = 10_000;
/** The worker looks for jobs at least this often, so that no job waits for a missed signal. */
const HEARTBEAT_MS = 2000;

/** Claims the due jobs of a queue and runs them until it is stopped. */
export const startWorker = (options: WorkerOptions): Worker => new Worker(options);

/**
 * A worker holds nothing that a crash could lose: a job that was claimed and not completed is
 * claimed again.
 */
export class Worker {
  /** Repeats a read or write until the store is available again, or the worker stops. */
  readonly retry: Retry;
  readonly #options: WorkerOptions;
  readonly #places: FairPool;
  readonly #shares: ShareWatch | null;
  readonly #underWay = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  #isTurning = false;
  #isWakeQueued = false;
  #mustTurnAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTurnAt = performance.now();

  constructor(options: WorkerOptions) {
    const { deps, queue, maxPerWorkspace, bound } = options;
    this.#options = options;
    this.retry = retryThroughOutage(this.#stopping.signal);
    this.#places = new FairPool(2 * maxPerWorkspace);
    this.#shares =
      bound === undefined ? null : new ShareWatch(this.#places, () => deps.bounds.reached(bound));
    this.#stopListening = deps.store.onWork(() => this.wake(), queue);
    this.wake();
  }

  /** Milliseconds since the last turn began. A healthy worker has one every few seconds. */
  get sinceLastTurnMs(): number {
    return performance.now() - this.#lastTurnAt;
  }

  /** Begins a turn soon: one for all calls in the same round of the event loop. */
  wake(): void {
    if (this.#isWakeQueued || this.#stopping.signal.aborted) return;
    this.#isWakeQueued = true;
    setImmediate(() => {
      this.#isWakeQueued = false;
      void this.#turn();
    });
  }

  /** Starts no more jobs, and resolves when those under way have ended or were aborted. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopListening();
    clearTimeout(this.#timer);
    const { drainMs = DRAIN_MS } = this.#options;
    const abortTimer = setTimeout(() => this.#aborting.abort(), drainMs);
    while (this.#running.size > 0) await Promise.all(this.#running);
    clearTimeout(abortTimer);
  }

  /** Claims jobs, starts them, and sets the time of the next turn. */
  async #turn(): Promise<void> {
    if (this.#isTurning) {
      this.#mustTurnAgain = true;
      return;
    }
    this.#isTurning = true;
    try {
      do {
        this.#mustTurnAgain = false;
        this.#lastTurnAt = performance.now();
        await this.#claimJobs();
      } while (this.#mustTurnAgain && !this.#stopping.signal.aborted);
      this.#turnWithin(await this.#msUntilDue());
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#options.log.error(
          { err: error, queue: this.#options.queue },
          'jobs could not be claimed; the worker tries again in two seconds',
        );
      this.#turnWithin(HEARTBEAT_MS);
    } finally {
      this.#isTurning = false;
    }
    if (this.#mustTurnAgain) this.wake();
  }

  #turnWithin(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#stopping.signal.aborted) this.#timer = setTimeout(() => void this.#turn(), ms);
  }

  async #claimJobs(): Promise<void> {
    const { deps, queue, leaseMs } = this.#options;
    if (this.#stopping.signal.aborted || this.#places.free === 0) return;
    const lease = new Lease(deps.clock, leaseMs);
    this.#shares?.beforeClaim();
    const jobs = await deps.store.claim({
      queue,
      limit: this.#places.free,
      places: this.#places,
      freeSlots: (group) => this.#freeInGroup(group),
      leaseMs,
    });
    // A job that is claimed during a stop is left to the next process.
    if (this.#stopping.signal.aborted) return;
    const places = jobs.map(({ group }) => this.#places.enter(shareOf(group)));
    this.#shares?.afterClaim(new Set(jobs.map(({ group }) => shareOf(group))));
    for (const [i, job] of jobs.entries()) this.#start(job, lease, places[i]);
  }

  #start(job: Job, lease: Lease, leavePlace: (() => void) | null | undefined): void {
    this.#count(job.group, 1);
    const running = this.#run(job, lease).finally(() => {
      this.#count(job.group, -1);
      this.#running.delete(running);
      leavePlace?.();
      this.wake();
    });
    this.#running.add(running);
  }

  async #run(job: Job, lease: Lease): Promise<void> {
    const { run, log, onFailure } = this.#options;
    const { signal } = this.#aborting;
    try {
      await run(job, { lease, signal, retry: this.retry });
    } catch (error) {
      if (!signal.aborted)
        log.error({ err: error, [onFailure.idField]: job.id }, onFailure.message);
    }
  }

  async #msUntilDue(): Promise<number> {
    const { deps, queue } = this.#options;
    await this.#shares?.report((share) => this.#hasDue(share));
    if (this.#places.free === 0) return HEARTBEAT_MS;
    const waitMs = await deps.store.msUntilDue(queue, (group) => this.#isFull(group), this.#places);
    return waitMs === null ? HEARTBEAT_MS : Math.min(HEARTBEAT_MS, Math.max(1, waitMs));
  }

  /** Whether the workspace has due jobs for which no place is free. */
  async #hasDue(share: string): Promise<boolean> {
    const { deps, queue } = this.#options;
    const onlyThisShare = { free: 1, heldBy: (other: string) => (other === share ? 0 : 1) };
    return (
      (await deps.store.msUntilDue(queue, (group) => this.#isFull(group), onlyThisShare)) === 0
    );
  }

  #freeInGroup(group: string): number {
    const { freeInGroup = () => 1 } = this.#options;
    return freeInGroup(group, this.#underWay.get(group) ?? 0);
  }

  #isFull(group: string): boolean {
    return this.#freeInGroup(group) === 0;
  }

  #count(group: string, by: 1 | -1): void {
    const underWay = (this.#underWay.get(group) ?? 0) + by;
    if (underWay === 0) this.#underWay.delete(group);
    else this.#underWay.set(group, underWay);
  }
}

/** Time to record the result of an attempt. */
const RECORD_MS = 10_000;

/**
 * How long claimed jobs belong to this process alone, by its own clock. The time counts from before
 * the claim was sent, so it ends no later than the store's lease. After a pause or an outage, the
 * process sees here that another process may have taken over its jobs.
 */
export class Lease {
  readonly #clock: SteadyClock;
  readonly #endsAt: number;

  constructor(clock: SteadyClock, ms: number) {
    this.#clock = clock;
    this.#endsAt = clock.steadyMs() + ms;
  }

  /** Whether an attempt of this length ends, and is recorded, before another process may claim. */
  covers(attemptMs: number): boolean {
    return this.#clock.steadyMs() + attemptMs + RECORD_MS <= this.#endsAt;
  }
}

/** How often to check whether a workspace with its full share has more jobs waiting. */
const CHECK_EVERY_MS = 1000;

/**
 * Reports the bound when a workspace has its full share (all the places that it may have now) and
 * more jobs waiting: once each time that this begins.
 */
class ShareWatch {
  readonly #places: FairPool;
  readonly #onReached: () => void;
  /** The full shares, each with the time of its last check, in steady milliseconds. */
  readonly #full = new Map<string, number | 'reported'>();
  /** Those of the full shares that had room again before the claim. */
  #hadRoom: readonly string[] = [];

  constructor(places: FairPool, onReached: () => void) {
    this.#places = places;
    this.#onReached = onReached;
  }

  beforeClaim(): void {
    this.#hadRoom = [...this.#full.keys()].filter((share) => this.#places.freeFor(share) > 0);
  }

  /**
   * A share that had room and got no claim has no jobs waiting.
   * @param claimed the shares whose jobs were claimed
   */
  afterClaim(claimed: ReadonlySet<string>): void {
    for (const share of this.#hadRoom) if (!claimed.has(share)) this.#full.delete(share);
    for (const share of claimed) {
      if (this.#places.freeFor(share) === 0 && !this.#full.has(share))
        this.#full.set(share, -Infinity);
    }
  }

  /** @param hasMore whether a share has due jobs that wait for a place */
  async report(hasMore: (share: string) => Promise<boolean>): Promise<void> {
    for (const [share, checkedAt] of this.#full) {
      if (checkedAt === 'reported' || performance.now() - checkedAt < CHECK_EVERY_MS) continue;
      this.#full.set(share, performance.now());
      if (!(await hasMore(share))) continue;
      this.#full.set(share, 'reported');
      this.#onReached();
    }
  }
}
