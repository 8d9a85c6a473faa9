import type { Tx } from '../../store/collections.ts';
import type { Delivery } from '../delivery.ts';
import type { Event } from '../event.ts';
import type { Deps } from '../../platform/deps.ts';
import { isRemoved, signingSecrets, wants, type Subscription } from '../subscription.ts';
import type { Job } from '../../store/store.ts';

/**
 * How often a delivery checks whether its subscription is still paused. Deliveries of a paused
 * subscription are not parked, as those of a removed one are: what a person sends by hand would have
 * to wait behind them.
 */
const PAUSE_CHECK_MS = 60_000;

/** A claimed delivery with all that an attempt needs. */
export interface DueDelivery {
  readonly job: Job;
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  readonly event: Event;
  /** Unencrypted, the current one first. */
  readonly secrets: readonly string[];
}

/**
 * What a claimed job asks for. `parked`: the subscription is removed, and its deliveries wait until
 * it is revived. Null: there is nothing to send, or not now.
 */
export type LoadedDelivery =
  | ({ readonly type: 'due' } & DueDelivery)
  | { readonly type: 'parked' }
  | { readonly type: 'cancelled'; readonly delivery: Delivery }
  | null;

type LoadedWithoutSecrets =
  | ({ readonly type: 'due' } & Omit<DueDelivery, 'secrets'>)
  | Exclude<LoadedDelivery, { readonly type: 'due' }>;

/**
 * Reads the deliveries of claimed jobs, in one transaction. Gives back the jobs of removed and
 * paused subscriptions. Cancels deliveries whose subscription or event is gone, and those whose
 * event the subscription no longer wants.
 */
export async function loadDueDeliveries(
  { store, clock, secrets }: Deps,
  jobs: readonly Job[],
): Promise<readonly LoadedDelivery[]> {
  const now = clock.now();
  // In parallel, so that a store can read them together.
  const loaded = await store.transaction((tx) =>
    Promise.all(jobs.map((job) => load(tx, job, now))),
  );
  return loaded.map((each) => {
    if (each?.type !== 'due') return each;
    const sealed = signingSecrets(each.subscription, now);
    return { ...each, secrets: sealed.map((secret) => secrets.open(secret.sealed)) };
  });
}

async function load(tx: Tx, job: Job, now: Date): Promise<LoadedWithoutSecrets> {
  const delivery = await tx.deliveries.peek(job.id);
  if (delivery?.status !== 'pending') return dropJob(tx, job);
  const subscription = await tx.subscriptions.peek(delivery.subscriptionId);
  const event = await tx.events.peek(delivery.eventId);
  if (!subscription || !event) return cancel(tx, job);
  if (isRemoved(subscription)) {
    await tx.jobs.release(job.id, job);
    return { type: 'parked' };
  }
  // What a person sends by hand goes out anyway.
  if (delivery.trigger !== 'manual') {
    if (!wants(subscription, event)) return cancel(tx, job);
    if (subscription.paused) {
      await tx.jobs.release(job.id, { ...job, runAt: now.getTime() + PAUSE_CHECK_MS });
      return null;
    }
  }
  return { type: 'due', job, delivery, subscription, event };
}

/** Ends the job, unless the delivery was just queued again: its new job has the same id. */
async function dropJob(tx: Tx, { id }: Job): Promise<null> {
  const delivery = await tx.deliveries.get(id);
  if (delivery?.status !== 'pending') await tx.jobs.complete(id);
  return null;
}

/** Leaves the delivery alone if another process has just finished it. */
async function cancel(tx: Tx, { id }: Job): Promise<LoadedWithoutSecrets> {
  const delivery = await tx.deliveries.get(id);
  await tx.jobs.complete(id);
  if (delivery?.status !== 'pending') return null;
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  return { type: 'cancelled', delivery: cancelled };
}
