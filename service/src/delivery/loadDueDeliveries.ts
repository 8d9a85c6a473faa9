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

/** What claimed jobs stand for. */
export interface LoadedDeliveries {
  readonly due: readonly DueDelivery[];
  readonly cancelled: readonly Delivery[];
  /** Lineages whose subscription was removed: their deliveries go on waiting for its successor. */
  readonly waiting: ReadonlySet<string>;
}

/**
 * Reads what claimed jobs stand for, in one transaction. What waits for a removed subscription's
 * successor is given back; what has nothing to send any more (nobody took the place of its
 * subscription, its event is past retention) is cancelled.
 */
export const loadDueDeliveries = async (
  { store, clock, secrets }: Deps,
  jobs: readonly Job[],
): Promise<LoadedDeliveries> => {
  const now = clock.now();
  const { due, cancelled, waiting } = await store.transaction(async (tx) => {
    const holders = new LineageHolders(tx);
    const found = {
      due: [] as Omit<DueDelivery, 'secrets'>[],
      cancelled: [] as Delivery[],
      waiting: new Set<string>(),
    };
    // Asked for at once: a store may read them together.
    const loaded = await Promise.all(jobs.map((job) => load(tx, holders, job)));
    for (const [i, each] of loaded.entries()) {
      const job = jobs[i]!;
      if (each?.type === 'due') found.due.push(each);
      else if (each?.type === 'waiting') found.waiting.add(job.group);
      else if (each) found.cancelled.push(each.delivery);
    }
    return found;
  });
  const opened = due.map((each) => ({
    ...each,
    secrets: signingSecrets(each.subscription, now).map(({ sealed }) => secrets.open(sealed)),
  }));
  return { due: opened, cancelled, waiting };
};

type Loaded =
  | ({ readonly type: 'due' } & Omit<DueDelivery, 'secrets'>)
  | { readonly type: 'waiting' }
  | { readonly type: 'cancelled'; readonly delivery: Delivery };

/** @returns null when it has been dealt with already */
async function load(tx: Tx, holders: LineageHolders, job: Job): Promise<Loaded | null> {
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
async function giveUp(tx: Tx, { id }: Job, before: Delivery | null): Promise<Loaded | null> {
  const delivery = await tx.deliveries.get(id);
  // asked for again at this moment: it has a new job
  if (delivery?.status === 'pending' && before?.status !== 'pending') return null;
  await tx.jobs.complete(id);
  if (delivery?.status !== 'pending') return null;
  const cancelled: Delivery = { ...delivery, status: 'cancelled', nextAttemptAt: null };
  await tx.deliveries.put(cancelled);
  return { type: 'cancelled', delivery: cancelled };
}
