import type { Logger } from 'pino';
import { systemClock, type SteadyClock } from '../domain/clock.ts';
import type { BoundName, Bounds } from '../limits/bounds.ts';
import { FairPool } from '../limits/fairPool.ts';
import {
  shareOf,
  StoreUnavailable,
  type ClaimRequest,
  type Job,
  type Schema,
  type Store,
} from '../store/store.ts';
import { FullShares } from './fullShares.ts';
import { Lease } from './lease.ts';
import { persistently } from './persistently.ts';

export interface WorkLoopOptions {
  readonly store: Pick<Store<Schema>, 'claim' | 'msUntilDue' | 'onWork'>;
  readonly log: Logger;
  /** By which leases are counted; default the system's. */
  readonly clock?: SteadyClock;
  readonly queue: string;
  /**
   * Jobs of one workspace under way at once, over all its groups, while no other has any. All
   * workspaces together have up to twice as many: one more finds a place at once, whatever the
   * others do.
   */
  readonly mostInFlight: number;
  /** Told when a workspace has its share of the places and more that waits. */
  readonly atShare?: { readonly bounds: Bounds; readonly bound: BoundName };
  /** A job that is not finished by then is claimed again. */
  readonly leaseMs: number;
  readonly freeSlots: ClaimRequest['freeSlots'];
  /** Does the claimed jobs; calls `done` for each one as it ends. Never rejects. */
  readonly run: (jobs: readonly Job[], done: (job: Job) => void, lease: Lease) => Promise<void>;
}

/** What a lease has beyond the longest attempt, for recording what came of it. */
export const LEASE_MARGIN_MS = 30_000;

/** The loop turns at least this often, so that nothing waits on a missed signal. */
const HEARTBEAT_MS = 2000;

/**
 * Claims what is due in one queue and has it done, as long as it runs. It holds nothing that a
 * crash could lose: what was claimed and not completed is claimed again.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #batches = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  readonly #stopping = new AbortController();
  /** For what is claimed and not yet done. */
  readonly #places: FairPool;
  readonly #full: FullShares | null;
  #turning = false;
  #wakeQueued = false;
  #turnAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTurn = performance.now();

  /** Starts at once. */
  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.#places = new FairPool(2 * options.mostInFlight);
    this.#full =
      options.atShare === undefined ? null : new FullShares(this.#places, options.atShare);
    this.#stopListening = options.store.onWork(() => this.wake(), options.queue);
    this.wake();
  }

  /** Milliseconds since the loop last turned; a healthy one turns every few seconds. */
  get sinceLastTurnMs(): number {
    return performance.now() - this.#lastTurn;
  }

  /** Takes no more work and waits for what is in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopListening();
    clearTimeout(this.#timer);
    while (this.#batches.size > 0) await Promise.allSettled(this.#batches);
  }

  /**
   * Reads what a claimed job is about, or writes what came of it, through an outage of the store.
   * At a stop it gives up after three seconds.
   */
  record<T>(write: () => Promise<T>): Promise<T> {
    return persistently(write, this.#stopping.signal);
  }

  /**
   * Looks for work soon: a slot has become free. Many signals in one go of the event loop make one
   * turn.
   */
  wake(): void {
    if (this.#wakeQueued || this.#stopping.signal.aborted) return;
    this.#wakeQueued = true;
    setImmediate(() => {
      this.#wakeQueued = false;
      void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    if (this.#turning) {
      this.#turnAgain = true;
      return;
    }
    this.#turning = true;
    try {
      do {
        this.#turnAgain = false;
        this.#lastTurn = performance.now();
        await this.#claimAndRun();
      } while (this.#turnAgain && !this.#stopping.signal.aborted);
      this.#turnWithin(await this.#msUntilDue());
    } catch (error) {
      if (!(error instanceof StoreUnavailable))
        this.#options.log.error({ err: error, queue: this.#options.queue }, 'a work loop stumbled');
      this.#turnWithin(HEARTBEAT_MS);
    } finally {
      this.#turning = false;
    }
    if (this.#turnAgain) this.wake();
  }

  #turnWithin(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#stopping.signal.aborted) this.#timer = setTimeout(() => void this.#turn(), ms);
  }

  async #msUntilDue(): Promise<number> {
    const { store, queue, freeSlots } = this.#options;
    const isFull = (group: string) => freeSlots(group) === 0;
    await this.#full?.tell((share) => this.#hasDue(share, isFull));
    if (this.#places.free === 0) return HEARTBEAT_MS;
    const waitMs = await store.msUntilDue(queue, isFull, this.#places);
    if (waitMs === null) return HEARTBEAT_MS;
    return Math.min(HEARTBEAT_MS, Math.max(1, waitMs));
  }

  /** Whether there is more for the share to do than it has places for. */
  async #hasDue(share: string, isFull: (group: string) => boolean): Promise<boolean> {
    const { store, queue } = this.#options;
    const forItAlone = { free: 1, heldBy: (other: string) => (other === share ? 0 : 1) };
    return (await store.msUntilDue(queue, isFull, forItAlone)) === 0;
  }

  async #claimAndRun(): Promise<void> {
    const { store, queue, leaseMs, freeSlots, run, clock = systemClock } = this.#options;
    const { free } = this.#places;
    if (this.#stopping.signal.aborted || free === 0) return;
    const lease = new Lease(clock, leaseMs);
    this.#full?.beforeClaim();
    const jobs = await store.claim({
      queue,
      limit: free,
      places: this.#places,
      freeSlots,
      leaseMs,
    });
    // What a stop came upon is neither begun nor lost: the next process claims it.
    if (this.#stopping.signal.aborted) return;
    const leave = new Map(jobs.map((job) => [job.id, this.#places.enter(shareOf(job.group))]));
    const done = ({ id }: Job) => {
      leave.get(id)?.();
      this.wake();
    };
    this.#full?.afterClaim(new Set(jobs.map(({ group }) => shareOf(group))));
    if (jobs.length === 0) return;
    const batch = run(jobs, done, lease);
    this.#batches.add(batch);
    void batch.finally(() => this.#batches.delete(batch));
  }
}
