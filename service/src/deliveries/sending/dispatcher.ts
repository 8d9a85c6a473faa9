import type { Logger } from 'pino';
import type { ServiceStore } from '../../store/collections.ts';
import { DELIVERY_QUEUE, type Delivery } from '../delivery.ts';
import { limitedBy } from '../../platform/jobs/workGroup.ts';
import type { OutboundClient } from '../../platform/outbound/outboundClient.ts';
import { remember } from '../../platform/remember.ts';
import { StoreUnavailable, type Job } from '../../store/store.ts';
import { Batcher, isolateFailures } from '../../platform/async/batcher.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type Work,
  type Worker,
} from '../../platform/jobs/worker.ts';
import { attempt, type AttemptResult } from './attempt.ts';
import { type InFlightLimit, InFlightLimits } from './inFlightLimits.ts';
import { loadDueDeliveries, type DueDelivery, type LoadedDelivery } from './loadDueDeliveries.ts';
import { recordResults, type MadeAttempt } from './recordResult.ts';

/** Learns of attempts and deliveries that end. It is called often, must be quick and never throw. */
export interface DeliveryObserver {
  /** An attempt has ended. It may not be recorded yet. */
  attempted(result: AttemptResult): void;
  /** The delivery has ended, and that is recorded. */
  ended(delivery: Delivery): void;
}

interface DispatcherOptions extends Work {
  readonly outbound: Pick<OutboundClient, 'request'>;
  readonly timeoutMs: number;
  readonly retryDelaysMs: readonly number[];
  readonly observer: DeliveryObserver;
}

/** Deliveries of one workspace under way at once, over all its subscriptions. */
const MAX_PER_WORKSPACE = 512;
/**
 * Before its own deadline begins, an attempt may wait for the connection of another attempt, which
 * has the same deadline.
 */
const DEADLINES_PER_LEASE = 2;

/** Decrypted secrets that are kept: those of 40 workspaces with all their subscriptions. */
const MAX_OPENED_SECRETS = 1000;
/** Results recorded in one batch. A larger one would hold the event loop for too long. */
const MAX_BATCH = 100;
/** More batches at once would only wait for each other's locks. */
const MAX_BATCHES_AT_ONCE = 2;

/**
 * The delivery loop: claims due deliveries, sends them and records the attempts. If the process
 * dies before an attempt is recorded, the delivery is claimed again and sent with the same id.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #limits: InFlightLimits;
  readonly #worker: Worker;
  /** Jobs that are claimed together are read in one transaction. */
  readonly #loads = new Batcher<Job, LoadedDelivery>({
    run: isolateFailures(
      (jobs) => this.#worker.retry(() => loadDueDeliveries(this.#options.deps, jobs)),
      isOutage,
    ),
    schedule: queueMicrotask,
  });
  /** Results that arrive at about the same time are recorded in one transaction. */
  readonly #results = new Batcher<MadeAttempt, Delivery | null>({
    run: isolateFailures(
      (attempts) =>
        this.#worker.retry(() =>
          recordResults(this.#options.deps, attempts, this.#options.retryDelaysMs),
        ),
      isOutage,
    ),
    schedule: setImmediate,
    maxItems: MAX_BATCH,
    maxRunning: MAX_BATCHES_AT_ONCE,
  });

  /** Starts at once. */
  constructor(options: DispatcherOptions) {
    const { secrets } = options.deps;
    const open = remember(MAX_OPENED_SECRETS, secrets.open);
    this.#options = { ...options, deps: { ...options.deps, secrets: { ...secrets, open } } };
    this.#limits = new InFlightLimits(options.timeoutMs);
    this.#worker = startWorker({
      ...options,
      queue: DELIVERY_QUEUE,
      maxPerWorkspace: MAX_PER_WORKSPACE,
      freeInGroup: (group) => this.#limitOf(group).free,
      bound: 'workspace_deliveries',
      leaseMs: DEADLINES_PER_LEASE * options.timeoutMs + LEASE_MARGIN_MS,
      run: (job) => this.#deliver(job),
      onFailure: {
        message: 'a delivery could not be attempted or recorded; it is claimed again',
        idField: 'delivery',
      },
    });
  }

  /** Milliseconds since the loop last looked for work. A healthy one looks every few seconds. */
  get sinceLastTurnMs(): number {
    return this.#worker.sinceLastTurnMs;
  }

  /**
   * Takes no more work and waits for attempts in flight. The next start repeats unfinished ones.
   */
  stop(): Promise<void> {
    return this.#worker.stop();
  }

  async #deliver(job: Job): Promise<void> {
    const limit = this.#limitOf(job.group);
    limit.start();
    const loaded = await this.#loads.add(job).catch((error: unknown) => {
      limit.end(null);
      throw error;
    });
    limit.noteRemoved(loaded?.type === 'removed');
    if (loaded?.type === 'due') return this.#send(loaded, limit);
    limit.end(null);
    this.#wakeAfterPause(limit);
    if (loaded?.type === 'cancelled') this.#options.observer.ended(loaded.delivery);
  }

  /** The limit of the subscription that the group is for. */
  #limitOf(group: string): InFlightLimit {
    return this.#limits.of(limitedBy(group));
  }

  async #send(due: DueDelivery, limit: InFlightLimit): Promise<void> {
    const at = this.#options.deps.clock.now();
    const result = await this.#attempt(due, limit, at);
    this.#worker.wake(); // the subscription can take the next one before this result is recorded
    this.#logResult(due, result);
    await this.#record(due, result, at);
  }

  async #attempt(
    { delivery, subscription, event, secrets }: DueDelivery,
    limit: InFlightLimit,
    now: Date,
  ): Promise<AttemptResult> {
    const { outbound, timeoutMs } = this.#options;
    const call = {
      workspaceId: subscription.workspaceId,
      url: subscription.targetUrl,
      event,
      secrets,
      repeatRound: delivery.isRepeat ? delivery.roundStart : null,
      lastAttemptAt: delivery.attempts.at(-1)?.at ?? null,
    };
    try {
      const result = await attempt(outbound, call, { now, timeoutMs });
      limit.end(result.verdict, result.durationMs);
      this.#wakeAfterPause(limit);
      this.#options.observer.attempted(result);
      return result;
    } catch (error) {
      limit.end(null);
      throw error;
    }
  }

  #wakeAfterPause({ pausedMs }: InFlightLimit): void {
    if (pausedMs > 0) setTimeout(() => this.#worker.wake(), Math.ceil(pausedMs) + 1).unref();
  }

  #logResult(
    { delivery, subscription, event }: DueDelivery,
    { verdict, statusCode, error }: AttemptResult,
  ): void {
    const { log } = this.#options;
    const fields = {
      delivery: delivery.id,
      event_id: event.id,
      event: event.name,
      subscription: subscription.id,
      status: statusCode,
    };
    if (verdict === 'success') log.debug(fields, 'delivered');
    else log.info({ ...fields, reason: error }, 'attempt failed');
  }

  async #record(
    { delivery, subscription }: DueDelivery,
    result: AttemptResult,
    at: Date,
  ): Promise<void> {
    const recorded = await this.#results.add({
      deliveryId: delivery.id,
      subscriptionId: subscription.id,
      revision: subscription.revision,
      targetUrl: subscription.targetUrl,
      nextAttemptAt: delivery.nextAttemptAt,
      result,
      at,
    });
    if (recorded === null || recorded.status === 'pending') return;
    this.#options.observer.ended(recorded);
    if (result.verdict === 'gone')
      this.#options.log.warn(
        { subscription: subscription.id },
        'the receiver answered 410: its subscription is removed',
      );
  }
}

const isOutage = (error: unknown): boolean => error instanceof StoreUnavailable;

/**
 * Logs at the start how many deliveries are late, and that some may arrive twice. A process that
 * dies during an attempt leaves no other trace of it.
 * @see docs/decisions/0024-who-may-read-metrics.md
 */
export async function logOverdue(store: Pick<ServiceStore, 'stats'>, log: Logger): Promise<void> {
  const queue = (await store.stats()).queues[DELIVERY_QUEUE];
  if (queue === undefined || queue.oldestDueMs === null) return;
  log.info(
    { deliveries: queue.due, late_seconds: Math.round(queue.oldestDueMs / 1000) },
    'deliveries became due before this start and are sent now; what was under way when a process ended may arrive a second time, with the same id',
  );
}
