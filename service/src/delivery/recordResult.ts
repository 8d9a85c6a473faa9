import { timestamp } from '../domain/clock.ts';
import { recordAttempt, type Delivery } from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import type { AttemptResult } from './attempt.ts';

/** The time of the last delivery is exact to the second, so that a burst does not write the subscription each time. */
const LAST_DELIVERY_PRECISION_MS = 1000;

const isJustBefore = (last: string | null, at: Date): boolean =>
  last !== null && Math.abs(at.getTime() - Date.parse(last)) < LAST_DELIVERY_PRECISION_MS;

/**
 * Writes what an attempt came to, in one transaction: the attempt, the next one's time or the end of
 * the job, the subscription's row of failures, and after a 410 the removal of the subscription.
 * @returns the delivery as it stands; null when it is gone
 */
export const recordResult = (
  { store, clock }: Deps,
  deliveryId: string,
  result: AttemptResult,
  at: Date,
  retryDelaysMs: readonly number[],
) => {
  const { verdict, statusCode, durationMs, error, responseExcerpt } = result;
  const random = Math.random();
  return store.transaction(async (tx): Promise<{ delivery: Delivery; subscriptionRemoved: boolean } | null> => {
    const before = await tx.deliveries.get(deliveryId);
    if (!before) return null;
    const now = clock.now();
    const made = { at: timestamp(at), statusCode, durationMs, error, responseExcerpt };
    const delivery = recordAttempt(before, made, verdict, retryDelaysMs, now, random);
    await tx.deliveries.put(delivery);
    if (delivery.nextAttemptAt === null) await tx.jobs.complete(deliveryId);
    else await tx.jobs.release(deliveryId, { runAt: Date.parse(delivery.nextAttemptAt), rank: 1 });

    const subscription = await tx.subscriptions.get(delivery.subscriptionId);
    if (!subscription) return { delivery, subscriptionRemoved: true };
    if (verdict === 'gone') {
      await tx.subscriptions.delete(subscription.id);
      return { delivery, subscriptionRemoved: true };
    }
    const consecutiveFailures =
      verdict === 'success' ? 0 : subscription.consecutiveFailures + (delivery.nextAttemptAt === null ? 1 : 0);
    if (consecutiveFailures !== subscription.consecutiveFailures || !isJustBefore(subscription.lastDeliveryAt, at)) {
      await tx.subscriptions.put({ ...subscription, consecutiveFailures, lastDeliveryAt: timestamp(at) });
    }
    return { delivery, subscriptionRemoved: false };
  });
};
