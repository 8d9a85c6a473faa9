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

/**
 * Reads what claimed jobs stand for, in one transaction. What has nothing to send any more (its
 * subscription was removed, its event is past retention) is cancelled and left out.
 */
export const loadDueDeliveries = async ({ store, clock, secrets }: Deps, jobs: readonly Job[]): Promise<DueDelivery[]> => {
  const now = clock.now();
  const due = await store.transaction(async (tx) => {
    const found = [];
    for (const job of jobs) {
      const each = await load(tx, job);
      if (each) found.push(each);
    }
    return found;
  });
  return due.map((each) => ({
    ...each,
    secrets: signingSecrets(each.subscription, now).map(({ sealed }) => secrets.open(sealed)),
  }));
};

async function load(tx: Tx, job: Job) {
  const delivery = await tx.deliveries.get(job.id);
  if (delivery?.status !== 'pending') {
    await tx.jobs.complete(job.id);
    return null;
  }
  const subscription = await tx.subscriptions.get(delivery.subscriptionId);
  const event = await tx.events.get(delivery.eventId);
  if (subscription && event) return { delivery, subscription, event };
  await tx.deliveries.put({ ...delivery, status: 'cancelled', nextAttemptAt: null });
  await tx.jobs.complete(job.id);
  return null;
}
