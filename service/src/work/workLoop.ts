import type { Logger } from 'pino';
import { systemClock, type SteadyClock } from '../domain/clock.ts';
import { StoreUnavailable, type ClaimRequest, type Job, type Schema, type Store } from '../store/store.ts';
import { Lease } from './lease.ts';
import { persistently } from './persistently.ts';

export interface WorkLoopOptions {
  readonly store: Pick<Store<Schema>, 'claim' | 'msUntilDue' | 'onWork'>;
  readonly log: Logger;
  /** By which leases are counted; default the system's. */
  readonly clock?: SteadyClock;
  readonly queue: string;
  /** Jobs under way at once, over all groups. */
  readonly mostInFlight: number;
  /** A job that is not finished by then is claimed again. */
  readonly leaseMs: number;
  readonly freeSlots: ClaimRequest['freeSlots'];
  /** Does the claimed jobs; calls `done` for each one as it ends. Never rejects. */
  readonly run: (jobs: readonly Job[], done: () => void, lease: Lease) => Promise<void>;
}

/** What a lease has beyond the longest attempt, for recording what came of it. */
export const LEASE_MARGIN_MS = 30_000;

/** The loop turns at least this often, so that nothing waits on a missed signal. */
const HEARTBEAT_MS = 2000;

/**
 * Claims what is due in one queue and has it done, as long as it runs. It holds nothing that a crash
 * could lose: what was claimed and not completed is claimed again.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions;
  readonly #batches = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  readonly #stopping = new AbortController();
  /** Claimed and not yet done. */
  #inFlight = 0;
  #turning = false;
  #wakeQueued = false;
  #turnAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTurn = performance.now();

  /** Starts at once. */
  constructor(options: WorkLoopOptions) {
    this.#options = options;
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

  /** Reads what a claimed job is about, or writes what came of it, through an outage of the store. At a stop it gives up after three seconds. */
  record<T>(write: () => Promise<T>): Promise<T> {
    return persistently(write, this.#stopping.signal);
  }

  /** Looks for work soon: a slot has become free. Many signals in one go of the event loop make one turn. */
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
      if (!(error instanceof StoreUnavailable)) this.#options.log.error({ err: error, queue: this.#options.queue }, 'a work loop stumbled');
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
    const { store, queue, mostInFlight, freeSlots } = this.#options;
    if (this.#inFlight >= mostInFlight) return HEARTBEAT_MS;
    const waitMs = await store.msUntilDue(queue, (group) => freeSlots(group) === 0);
    if (waitMs === null) return HEARTBEAT_MS;
    return Math.min(HEARTBEAT_MS, Math.max(1, waitMs));
  }

  async #claimAndRun(): Promise<void> {
    const { store, queue, mostInFlight, leaseMs, freeSlots, run, clock = systemClock } = this.#options;
    if (this.#stopping.signal.aborted || this.#inFlight >= mostInFlight) return;
    const lease = new Lease(clock, leaseMs);
    const jobs = await store.claim({ queue, limit: mostInFlight - this.#inFlight, freeSlots, leaseMs });
    // What a stop came upon is neither begun nor lost: the next process claims it.
    if (jobs.length === 0 || this.#stopping.signal.aborted) return;
    this.#inFlight += jobs.length;
    const batch = run(jobs, () => {
      this.#inFlight--;
      this.wake();
    }, lease);
    this.#batches.add(batch);
    void batch.finally(() => this.#batches.delete(batch));
  }
}
