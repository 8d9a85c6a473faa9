import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import { DELIVERY_QUEUE } from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import type { OutboundClient } from '../outbound/outboundClient.ts';
import { StoreUnavailable, type Job } from '../store/store.ts';
import { attempt, type AttemptResult } from './attempt.ts';
import { InFlightLimit } from './inFlightLimit.ts';
import { loadDueDeliveries, type DueDelivery } from './loadDueDeliveries.ts';
import { recordResult } from './recordResult.ts';

export interface DispatcherOptions {
  readonly store: ServiceStore;
  readonly deps: Deps;
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly log: Logger;
  readonly timeoutMs: number;
  readonly retryDelaysMs: readonly number[];
}

/** Deliveries under way at once, over all subscriptions. */
const MOST_IN_FLIGHT = 512;
/** The loop turns at least this often, so that nothing waits on a missed signal. */
const HEARTBEAT_MS = 2000;
/** What a lease has beyond an attempt's deadline, for recording the result. */
const LEASE_MARGIN_MS = 30_000;
const RECORD_AGAIN_MS = 500;

/**
 * The delivery loop: claims what is due, sends it, records what came of it. It holds nothing that a
 * crash could lose: what was claimed and not recorded is claimed again, and sent with the same id.
 * @see design section 3, Deliveries
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #limits = new Map<string, InFlightLimit>();
  readonly #batches = new Set<Promise<void>>();
  readonly #stopListening: () => void;
  /** Claimed and not yet recorded. */
  #inFlight = 0;
  #stopping = false;
  #turning = false;
  #wakeQueued = false;
  #turnAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #lastTurn = performance.now();

  /** Starts at once. */
  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#stopListening = options.store.onWork(() => this.#wake());
    this.#wake();
  }

  /** Milliseconds since the loop last turned; a healthy one turns every few seconds. */
  get sinceLastTurnMs(): number {
    return performance.now() - this.#lastTurn;
  }

  /** Takes no more work and waits for what is in flight; what is not finished is sent again after a start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    while (this.#batches.size > 0) await Promise.allSettled(this.#batches);
  }

  /** Many signals in one go of the event loop make one turn. */
  #wake(): void {
    if (this.#wakeQueued || this.#stopping) return;
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
        await this.#claimAndSend();
      } while (this.#turnAgain && !this.#stopping);
      this.#turnWithin(await this.#msUntilDue());
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#options.log.error({ err: error }, 'the delivery loop stumbled');
      this.#turnWithin(HEARTBEAT_MS);
    } finally {
      this.#turning = false;
    }
    if (this.#turnAgain) this.#wake();
  }

  #turnWithin(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#stopping) this.#timer = setTimeout(() => void this.#turn(), ms);
  }

  async #msUntilDue(): Promise<number> {
    if (this.#inFlight >= MOST_IN_FLIGHT) return HEARTBEAT_MS;
    const { store, deps } = this.#options;
    const next = await store.nextRunAt(DELIVERY_QUEUE, (group) => this.#limitOf(group).free === 0);
    if (next === null) return HEARTBEAT_MS;
    return Math.min(HEARTBEAT_MS, Math.max(1, next - deps.clock.now().getTime()));
  }

  async #claimAndSend(): Promise<void> {
    if (this.#stopping || this.#inFlight >= MOST_IN_FLIGHT) return;
    const { store, deps, timeoutMs } = this.#options;
    const jobs = await store.claim({
      queue: DELIVERY_QUEUE,
      now: deps.clock.now().getTime(),
      limit: MOST_IN_FLIGHT - this.#inFlight,
      freeSlots: (group) => this.#limitOf(group).free,
      leaseMs: timeoutMs + LEASE_MARGIN_MS,
    });
    if (jobs.length === 0) return;
    this.#inFlight += jobs.length;
    for (const { group } of jobs) this.#limitOf(group).start();
    const batch = this.#sendAll(jobs);
    this.#batches.add(batch);
    void batch.finally(() => this.#batches.delete(batch));
  }

  async #sendAll(jobs: readonly Job[]): Promise<void> {
    const due = await loadDueDeliveries(this.#options.deps, jobs).catch((error: unknown) => {
      this.#options.log.error({ err: error }, 'claimed deliveries could not be read; they are claimed again when their lease ends');
      return [];
    });
    const sendable = new Set(due.map(({ delivery }) => delivery.id));
    for (const job of jobs) {
      if (sendable.has(job.id)) continue;
      this.#limitOf(job.group).end(null, 0);
      this.#inFlight--;
    }
    await Promise.all(due.map((each) => this.#send(each)));
  }

  async #send(due: DueDelivery): Promise<void> {
    const { deps, log } = this.#options;
    try {
      const at = deps.clock.now();
      const result = await this.#attempt(due, at);
      this.#wake();
      this.#tell(due, result);
      await this.#record(due, result, at);
    } catch (error) {
      log.error({ err: error, delivery: due.delivery.id }, 'an attempt could not be made or recorded');
    } finally {
      this.#inFlight--;
      this.#wake();
    }
  }

  async #attempt({ delivery, subscription, event, secrets }: DueDelivery, now: Date): Promise<AttemptResult> {
    const { outbound, timeoutMs } = this.#options;
    const { id: eventId, name, body } = event;
    const call = { url: subscription.targetUrl, event: name, eventId, body, secrets, manual: delivery.trigger === 'manual' };
    const limit = this.#limitOf(subscription.id);
    try {
      const result = await attempt(outbound, call, { now, timeoutMs });
      limit.end(result.verdict, result.durationMs);
      return result;
    } catch (error) {
      limit.end(null, 0);
      throw error;
    }
  }

  #tell({ delivery, subscription, event }: DueDelivery, { verdict, statusCode, error }: AttemptResult): void {
    const { log } = this.#options;
    const about = { delivery: delivery.id, event_id: event.id, event: event.name, subscription: subscription.id, status: statusCode };
    if (verdict === 'success') log.debug(about, 'delivered');
    else log.info({ ...about, reason: error }, 'attempt failed');
    if (verdict === 'gone') log.warn({ subscription: subscription.id }, 'the receiver answered 410: its subscription is removed');
  }

  /** A result is recorded even if the store cannot write for a while; else the event would be sent twice. */
  async #record({ delivery, subscription }: DueDelivery, result: AttemptResult, at: Date): Promise<void> {
    const { deps, retryDelaysMs } = this.#options;
    const giveUpAt = performance.now() + LEASE_MARGIN_MS;
    for (;;) {
      try {
        const recorded = await recordResult(deps, delivery.id, result, at, retryDelaysMs);
        if (recorded?.subscriptionRemoved) this.#limits.delete(subscription.id);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || performance.now() > giveUpAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, RECORD_AGAIN_MS));
      }
    }
  }

  #limitOf(subscriptionId: string): InFlightLimit {
    let limit = this.#limits.get(subscriptionId);
    if (!limit) this.#limits.set(subscriptionId, (limit = new InFlightLimit()));
    return limit;
  }
}
