import type { Tx } from '../../store/collections.ts';
import type { Delivery } from '../delivery.ts';
import type { Event } from '../event.ts';
import type { Deps } from '../../platform/deps.ts';
import { isRemoved, signingSecrets, wants, type Subscription } from '../subscription.ts';
import type { Job } from '../../store/store.ts';

/**
 * How often a delivery looks whether the pause is over. It is not parked as those of removed
 * subscriptions are: what a person sends by hand would wait behind it.
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

type Loaded =
  | ({ readonly type: 'due' } & Omit<DueDelivery, 'secrets'>)
  | Exclude<LoadedDelivery, { readonly type: 'due' }>;

/**
 * Reads the deliveries of claimed jobs, in one transaction. Gives back the jobs of removed and
 * paused subscriptions. Cancels deliveries whose subscription or event is gone, and those that
 * changed events or another filter leave out.
 */
export async function loadDueDeliveries(
  { store, clock, secrets }: Deps,
  jobs: readonly Job[],
): Promise<readonly LoadedDelivery[]> {
  const now = clock.now();
  // All at once: a store may read them together.
  const loaded = await store.transaction((tx) =>
    Promise.all(jobs.map((job) => load(tx, job, now))),
  );
  return loaded.map((each) => {
    if (each?.type !== 'due') return each;
    const sealed = signingSecrets(each.subscription, now);
    return { ...each, secrets: sealed.map((secret) => secrets.open(secret.sealed)) };
  });
}

async function load(tx: Tx, job: Job, now: Date): Promise<Loaded> {
  const delivery = await tx.deliveries.peek(job.id);
  if (delivery?.status !== 'pending') return dropJob(tx, job);
  const subscription = await tx.subscriptions.peek(delivery.subscriptionId);
  const event = await tx.events.peek(delivery.eventId);
  if (!subscription || !event) return cancel(tx, job);
  if (isRemoved(subscription)) {
    await tx.jobs.release(job.id, job);
    return { type: 'parked' };
  }
  // What a person asked for goes out all the same.
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
async function cancel(tx: Tx, { id }: Job): Promise<Loaded> {
  const delivery = await tx.deliveries.get(id);
  await tx.jobs.complete(id);
  if (delivery?.status !== 'pending') return null;
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  return { type: 'cancelled', delivery: cancelled };
}
