import type { Logger } from 'pino';
import type { ServiceStore } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { DELIVERY_QUEUE } from '../domain/delivery.ts';
import type { OutboundClient } from '../outbound/outboundClient.ts';
import { StoreUnavailable, type Job } from '../store/store.ts';
import { attempt } from './attempt.ts';
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

export interface Dispatcher {
  /** Milliseconds since the loop last turned; a healthy one turns every few seconds. */
  sinceLastTurnMs(): number;
  /** Takes no more work and waits for what is in flight; what is not finished is sent again after a start. */
  stop(): Promise<void>;
}

/** Deliveries under way at once, over all subscriptions. */
const MOST_IN_FLIGHT = 512;
/** The loop turns at least this often, so that nothing waits on a missed signal. */
const HEARTBEAT_MS = 2000;
/** What a lease has beyond an attempt's deadline, for recording the result. */
const LEASE_MARGIN_MS = 30_000;
const RECORD_AGAIN_MS = 500;

/** Starts the delivery loop: claims what is due, sends it, records what came of it. */
export function startDispatcher({ store, deps, outbound, log, timeoutMs, retryDelaysMs }: DispatcherOptions): Dispatcher {
  const { clock } = deps;
  const limits = new Map<string, InFlightLimit>();
  /** Claimed and not yet recorded. */
  let inFlight = 0;
  const batches = new Set<Promise<void>>();
  let stopping = false;
  let turning = false;
  let turnAgain = false;
  let timer: NodeJS.Timeout | undefined;
  let lastTurn = performance.now();

  const limitOf = (subscriptionId: string): InFlightLimit => {
    const known = limits.get(subscriptionId);
    if (known) return known;
    const limit = new InFlightLimit();
    limits.set(subscriptionId, limit);
    return limit;
  };

  /** Many signals in one go of the event loop make one turn. */
  let wakeQueued = false;
  const wake = () => {
    if (wakeQueued || stopping) return;
    wakeQueued = true;
    setImmediate(() => {
      wakeQueued = false;
      void turn();
    });
  };

  async function turn(): Promise<void> {
    if (turning) {
      turnAgain = true;
      return;
    }
    turning = true;
    try {
      do {
        turnAgain = false;
        lastTurn = performance.now();
        await claimAndSend();
      } while (turnAgain && !stopping);
      await sleepUntilDue();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'the delivery loop stumbled');
      schedule(HEARTBEAT_MS);
    } finally {
      turning = false;
    }
    if (turnAgain) wake();
  }

  async function claimAndSend(): Promise<void> {
    if (stopping || inFlight >= MOST_IN_FLIGHT) return;
    const jobs = await store.claim({
      queue: DELIVERY_QUEUE,
      now: clock.now().getTime(),
      limit: MOST_IN_FLIGHT - inFlight,
      freeSlots: (group) => limitOf(group).free,
      leaseMs: timeoutMs + LEASE_MARGIN_MS,
    });
    if (jobs.length === 0) return;
    inFlight += jobs.length;
    for (const { group } of jobs) limitOf(group).start();
    const batch = sendAll(jobs);
    batches.add(batch);
    void batch.finally(() => batches.delete(batch));
  }

  async function sendAll(jobs: readonly Job[]): Promise<void> {
    const due = await loadDueDeliveries(deps, jobs).catch((error: unknown) => {
      log.error({ err: error }, 'claimed deliveries could not be read; they are claimed again when their lease ends');
      return [];
    });
    const sendable = new Set(due.map(({ delivery }) => delivery.id));
    for (const job of jobs) {
      if (sendable.has(job.id)) continue;
      limitOf(job.group).end(null, 0);
      inFlight--;
    }
    await Promise.all(due.map(send));
  }

  async function send(due: DueDelivery): Promise<void> {
    const { delivery, subscription, event } = due;
    const limit = limitOf(subscription.id);
    const at = clock.now();
    try {
      const result = await attempt(
        outbound,
        {
          url: subscription.targetUrl,
          event: event.name,
          eventId: event.id,
          body: event.body,
          secrets: due.secrets,
          manual: delivery.trigger === 'manual',
        },
        { now: at, timeoutMs },
      );
      limit.end(result.verdict, result.durationMs);
      const about = { delivery: delivery.id, event_id: event.id, event: event.name, subscription: subscription.id };
      if (result.verdict === 'success') log.debug({ ...about, status: result.statusCode }, 'delivered');
      else log.info({ ...about, status: result.statusCode, reason: result.error }, 'attempt failed');
      wake();
      await record(due, result, at);
    } catch (error) {
      log.error({ err: error, delivery: delivery.id }, 'an attempt could not be made or recorded');
    } finally {
      inFlight--;
      wake();
    }
  }

  /** A result is recorded even if the store cannot write for a while; else the event would be sent twice. */
  async function record(due: DueDelivery, result: Awaited<ReturnType<typeof attempt>>, at: Date): Promise<void> {
    const giveUpAt = performance.now() + LEASE_MARGIN_MS;
    for (;;) {
      try {
        const recorded = await recordResult(deps, due.delivery.id, result, at, retryDelaysMs);
        if (recorded?.subscriptionRemoved) limits.delete(due.subscription.id);
        if (result.verdict === 'gone') log.warn({ subscription: due.subscription.id }, 'the receiver answered 410: its subscription was removed');
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || performance.now() > giveUpAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, RECORD_AGAIN_MS));
      }
    }
  }

  async function sleepUntilDue(): Promise<void> {
    const next = await store.nextRunAt(DELIVERY_QUEUE, (group) => limitOf(group).free === 0);
    const waitMs = next === null || inFlight >= MOST_IN_FLIGHT ? HEARTBEAT_MS : next - clock.now().getTime();
    schedule(Math.min(HEARTBEAT_MS, Math.max(1, waitMs)));
  }

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (!stopping) timer = setTimeout(() => void turn(), ms);
  }

  const stopListening = store.onWork(wake);
  wake();

  return {
    sinceLastTurnMs: () => performance.now() - lastTurn,
    async stop() {
      stopping = true;
      stopListening();
      clearTimeout(timer);
      while (batches.size > 0) await Promise.allSettled(batches);
    },
  };
}
