import type { Tx } from '../domain/collections.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import type { Event } from '../domain/event.ts';
import { signingSecrets, type Subscription } from '../domain/subscription.ts';
import type { Job } from '../store/store.ts';

/** A claimed delivery with all that an attempt needs. */
export interface DueDelivery {
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  readonly event: Event;
  /** In the clear, the current one first. */
  readonly secrets: readonly string[];
}

/** What claimed jobs stand for. */
export interface LoadedDeliveries {
  readonly due: readonly DueDelivery[];
  readonly cancelled: readonly Delivery[];
}

/**
 * Reads what claimed jobs stand for, in one transaction. What has nothing to send any more (its
 * subscription was removed, its event is past retention) is cancelled.
 */
export const loadDueDeliveries = async ({ store, clock, secrets }: Deps, jobs: readonly Job[]): Promise<LoadedDeliveries> => {
  const now = clock.now();
  const { due, cancelled } = await store.transaction(async (tx) => {
    const found: { due: Omit<DueDelivery, 'secrets'>[]; cancelled: Delivery[] } = { due: [], cancelled: [] };
    for (const job of jobs) {
      const each = await load(tx, job);
      if (each?.type === 'due') found.due.push(each);
      else if (each) found.cancelled.push(each.delivery);
    }
    return found;
  });
  const opened = due.map((each) => ({
    ...each,
    secrets: signingSecrets(each.subscription, now).map(({ sealed }) => secrets.open(sealed)),
  }));
  return { due: opened, cancelled };
};

type Loaded = ({ readonly type: 'due' } & Omit<DueDelivery, 'secrets'>) | { readonly type: 'cancelled'; readonly delivery: Delivery };

/** @returns null when it has been dealt with already */
async function load(tx: Tx, job: Job): Promise<Loaded | null> {
  const delivery = await tx.deliveries.get(job.id);
  if (delivery?.status !== 'pending') {
    await tx.jobs.complete(job.id);
    return null;
  }
  const subscription = await tx.subscriptions.get(delivery.subscriptionId);
  const event = await tx.events.get(delivery.eventId);
  if (subscription && event) return { type: 'due', delivery, subscription, event };
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  await tx.jobs.complete(job.id);
  return { type: 'cancelled', delivery: cancelled };
}
