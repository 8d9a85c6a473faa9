import type { Tx } from '../../store/collections.ts';
import type { Delivery } from '../delivery.ts';
import type { Event } from '../event.ts';
import { isAboutForgotten } from '../operations/forgotten.ts';
import type { Deps } from '../../platform/deps.ts';
import { isRemoved, openSecrets, wants, type Subscription } from '../subscription.ts';
import type { Job } from '../../store/store.ts';

/**
 * How often a delivery checks whether its subscription is still paused. It is queued for later: if
 * it were parked, as for a removed subscription, what a person sends by hand would wait behind it.
 */
const PAUSE_CHECK_MS = 60_000;

/** A claimed delivery with all that an attempt needs. */
export interface DueDelivery {
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  readonly event: Event;
  /** Unencrypted, the current one first. */
  readonly secrets: readonly string[];
}

/**
 * What a claimed job asks for. `removed`: the subscription was removed, and its deliveries wait until
 * it is revived. Null: there is nothing to send, or not yet.
 */
export type LoadedDelivery =
  | ({ readonly type: 'due' } & DueDelivery)
  | { readonly type: 'removed' }
  | { readonly type: 'cancelled'; readonly delivery: Delivery }
  | null;

/**
 * Reads the deliveries of claimed jobs, in one transaction. Gives back the jobs of removed and
 * paused subscriptions. Cancels deliveries whose subscription or event is gone, those about a
 * forgotten contact, and those whose event the subscription no longer wants.
 */
export function loadDueDeliveries(
  deps: Deps,
  jobs: readonly Job[],
): Promise<readonly LoadedDelivery[]> {
  const now = deps.clock.now();
  // In parallel, so that a store can read them together.
  return deps.store.transaction((tx) => Promise.all(jobs.map((job) => load(tx, deps, job, now))));
}

async function load(
  tx: Tx,
  { secrets }: Pick<Deps, 'secrets'>,
  job: Job,
  now: Date,
): Promise<LoadedDelivery> {
  const delivery = await tx.deliveries.peek(job.id);
  if (delivery?.status !== 'pending') return dropJob(tx, job);
  const [subscription, event] = await Promise.all([
    tx.subscriptions.peek(delivery.subscriptionId),
    tx.events.peek(delivery.eventId),
  ]);
  if (!subscription || !event || (await isAboutForgotten(tx, event))) return cancel(tx, job);
  if (isRemoved(subscription)) {
    await tx.jobs.release(job.id, job);
    return { type: 'removed' };
  }
  // What a person sends by hand goes out anyway.
  if (delivery.trigger !== 'manual') {
    if (!wants(subscription, event)) return cancel(tx, job);
    if (subscription.paused) {
      await tx.jobs.release(job.id, { ...job, runAt: now.getTime() + PAUSE_CHECK_MS });
      return null;
    }
  }
  const opened = openSecrets(subscription, secrets, now);
  return { type: 'due', delivery, subscription, event, secrets: opened };
}

/** Ends the job, unless the delivery was just queued again: the new job has the same id. */
async function dropJob(tx: Tx, { id }: Job): Promise<null> {
  const delivery = await tx.deliveries.get(id);
  if (delivery?.status !== 'pending') await tx.jobs.complete(id);
  return null;
}

/** Leaves the delivery alone if another process has just finished it. */
async function cancel(tx: Tx, { id }: Job): Promise<LoadedDelivery> {
  const delivery = await tx.deliveries.get(id);
  await tx.jobs.complete(id);
  if (delivery?.status !== 'pending') return null;
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  return { type: 'cancelled', delivery: cancelled };
}
