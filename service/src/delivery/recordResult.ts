import type { Tx } from '../domain/collections.ts';
import { timestamp, type Clock } from '../domain/clock.ts';
import { keepForSuccessor, recordAttempt, type Delivery } from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import { findLineageHolder } from '../domain/operations/findLineageHolder.ts';
import { endRetirement } from '../domain/operations/retireSubscription.ts';
import type { AttemptResult } from './attempt.ts';

/** The time of the last delivery is exact to the second, so that a burst does not write the subscription each time. */
const LAST_DELIVERY_PRECISION_MS = 1000;

const isJustBefore = (last: string | null, at: Date): boolean =>
  last !== null && Math.abs(at.getTime() - Date.parse(last)) < LAST_DELIVERY_PRECISION_MS;

/** An attempt that was made and is not on record yet. */
export interface MadeAttempt {
  readonly deliveryId: string;
  /** Whom it was made for. */
  readonly subscriptionId: string;
  readonly result: AttemptResult;
  readonly at: Date;
}

/**
 * Writes what attempts came to, in one transaction.
 * @returns for each of them the delivery as it stands; null when it is gone
 */
export const recordResults = (
  { store, clock }: Deps,
  attempts: readonly MadeAttempt[],
  retryDelaysMs: readonly number[],
): Promise<(Delivery | null)[]> =>
  store.transaction(async (tx) => {
    const recorded = [];
    for (const each of attempts) recorded.push(await record(tx, clock, each, retryDelaysMs));
    return recorded;
  });

/**
 * Writes what an attempt came to: the attempt, the next one's time or the end of the job, the
 * subscription's row of failures, and after a 410 the removal of the subscription. An attempt that
 * failed for a subscription that was removed meanwhile says nothing of its successor: the delivery
 * waits for that one.
 */
async function record(tx: Tx, clock: Clock, made: MadeAttempt, retryDelaysMs: readonly number[]): Promise<Delivery | null> {
  const { at, result } = made;
  const { verdict, statusCode, durationMs, error, responseExcerpt } = result;
  const before = await tx.deliveries.get(made.deliveryId);
  if (!before) return null;
  const now = clock.now();
  const attempt = { at: timestamp(at), statusCode, durationMs, error, responseExcerpt };
  const { subscription, retired } = await findLineageHolder(tx, before.subscriptionId);
  const isRemoved = subscription?.id !== made.subscriptionId;
  if (isRemoved && verdict === 'gone' && retired) await endRetirement(tx, retired);
  else if (isRemoved && verdict !== 'success' && (subscription ?? retired)) {
    const kept = keepForSuccessor(before, attempt, now);
    await tx.deliveries.put(kept);
    await tx.jobs.release(kept.id, { runAt: now.getTime(), rank: 0 });
    return kept;
  }

  const delivery = recordAttempt(before, attempt, verdict, retryDelaysMs, now, Math.random());
  await tx.deliveries.put(delivery);
  if (delivery.nextAttemptAt === null) await tx.jobs.complete(delivery.id);
  else await tx.jobs.release(delivery.id, { runAt: Date.parse(delivery.nextAttemptAt), rank: 1 });

  if (!subscription || isRemoved) return delivery;
  if (verdict === 'gone') {
    await tx.subscriptions.delete(subscription.id);
    return delivery;
  }
  const consecutiveFailures =
    verdict === 'success' ? 0 : subscription.consecutiveFailures + (delivery.nextAttemptAt === null ? 1 : 0);
  if (consecutiveFailures !== subscription.consecutiveFailures || !isJustBefore(subscription.lastDeliveryAt, at)) {
    await tx.subscriptions.put({ ...subscription, consecutiveFailures, lastDeliveryAt: timestamp(at) });
  }
  return delivery;
}
