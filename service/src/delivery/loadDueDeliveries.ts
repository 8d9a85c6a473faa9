import type { Tx } from '../domain/collections.ts';
import type { Delivery } from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import type { Event } from '../domain/event.ts';
import { LineageHolders } from '../domain/operations/findLineageHolder.ts';
import { signingSecrets, type Subscription } from '../domain/subscription.ts';
import type { Job } from '../store/store.ts';

/** A claimed delivery with all that an attempt needs. */
export interface DueDelivery {
  readonly job: Job;
  readonly delivery: Delivery;
  readonly subscription: Subscription;
  readonly event: Event;
  /** In the clear, the current one first. */
  readonly secrets: readonly string[];
}

/**
 * What a claimed job stands for. `waiting`: its subscription was removed, and its deliveries wait
 * for the successor. Null: the delivery needs nothing more.
 */
export type LoadedDelivery =
  | ({ readonly type: 'due' } & DueDelivery)
  | { readonly type: 'waiting' }
  | { readonly type: 'cancelled'; readonly delivery: Delivery }
  | null;

/**
 * Reads what claimed jobs stand for, in one transaction. The deliveries of a removed subscription
 * are given back. A delivery whose subscription has no successor, or whose event is past retention,
 * is cancelled.
 */
export const loadDueDeliveries = async (
  { store, clock, secrets }: Deps,
  jobs: readonly Job[],
): Promise<readonly LoadedDelivery[]> => {
  const now = clock.now();
  const loaded = await store.transaction((tx) => {
    const holders = new LineageHolders(tx);
    // All at once: a store may read them together.
    return Promise.all(jobs.map((job) => load(tx, holders, job)));
  });
  return loaded.map((each) => {
    if (each?.type !== 'due') return each;
    const sealed = signingSecrets(each.subscription, now);
    return { ...each, secrets: sealed.map((secret) => secrets.open(secret.sealed)) };
  });
};

type Loaded =
  | ({ readonly type: 'due' } & Omit<DueDelivery, 'secrets'>)
  | Exclude<LoadedDelivery, { readonly type: 'due' }>;

/** @returns null when it has been dealt with already */
async function load(tx: Tx, holders: LineageHolders, job: Job): Promise<Loaded> {
  const delivery = await tx.deliveries.peek(job.id);
  if (delivery?.status === 'pending') {
    const { subscription, retired } = await holders.of(delivery.subscriptionId);
    const event = await tx.events.peek(delivery.eventId);
    if (subscription && event) return { type: 'due', job, delivery, subscription, event };
    if (retired && event) {
      await tx.jobs.release(job.id, job);
      return { type: 'waiting' };
    }
  }
  return giveUp(tx, job, delivery);
}

/**
 * Locked: nobody may ask for it to be sent again before its job is gone. @param before as it was
 * looked at
 */
async function giveUp(tx: Tx, { id }: Job, before: Delivery | null): Promise<Loaded> {
  const delivery = await tx.deliveries.get(id);
  // asked for again at this moment: it has a new job
  if (delivery?.status === 'pending' && before?.status !== 'pending') return null;
  await tx.jobs.complete(id);
  if (delivery?.status !== 'pending') return null;
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  return { type: 'cancelled', delivery: cancelled };
}
