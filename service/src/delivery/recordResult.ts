import type { Tx } from '../domain/collections.ts';
import { timestamp } from '../domain/clock.ts';
import {
  keepForSuccessor,
  recordAttempt,
  recordLateAttempt,
  type AttemptVerdict,
  type Delivery,
} from '../domain/delivery.ts';
import type { Deps } from '../domain/deps.ts';
import { LineageHolders } from '../domain/operations/findLineageHolder.ts';
import { endRetirement } from '../domain/operations/retireSubscription.ts';
import { isVacant, type RetiredSubscription } from '../domain/retiredSubscription.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { AttemptResult } from './attempt.ts';

/**
 * The time of the last delivery is exact to the second, so that a burst does not write the
 * subscription each time.
 */
const LAST_DELIVERY_PRECISION_MS = 1000;

const isJustBefore = (last: string | null, at: Date): boolean =>
  last !== null && Math.abs(at.getTime() - Date.parse(last)) < LAST_DELIVERY_PRECISION_MS;

/** An attempt that was made and is not on record yet. */
export interface MadeAttempt {
  readonly deliveryId: string;
  /** Whom it was made for. */
  readonly subscriptionId: string;
  /**
   * The delivery's when the attempt began: another one since means that somebody else has made and
   * recorded one.
   */
  readonly nextAttemptAt: string | null;
  readonly result: AttemptResult;
  readonly at: Date;
}

/**
 * Writes what attempts came to, in one transaction.
 * @returns for each of them the delivery as it stands; null when it is gone, or had ended before
 */
export const recordResults = (
  { store, clock }: Deps,
  attempts: readonly MadeAttempt[],
  retryDelaysMs: readonly number[],
): Promise<(Delivery | null)[]> =>
  store.transaction(async (tx) => {
    await lockAll(tx, attempts);
    const holders = new LineageHolders(tx);
    const recorded = [];
    for (const each of attempts)
      recorded.push(await record(tx, holders, each, retryDelaysMs, clock.now()));
    return recorded;
  });

/**
 * Those subscriptions that this changes, then the deliveries, each in the order of their ids, as
 * everybody does who records at the same time.
 */
async function lockAll(tx: Tx, attempts: readonly MadeAttempt[]): Promise<void> {
  const bySubscription = Map.groupBy(attempts, ({ subscriptionId }) => subscriptionId);
  const ids = [...bySubscription.keys()].sort();
  const changed = await Promise.all(
    ids.map(async (id) => !(await isQuiet(tx, id, bySubscription.get(id)!))),
  );
  await Promise.all(ids.filter((_, i) => changed[i]).map((id) => tx.subscriptions.get(id)));
  await Promise.all(
    attempts
      .map(({ deliveryId }) => deliveryId)
      .sort()
      .map((id) => tx.deliveries.get(id)),
  );
}

/** Nothing of the subscription changes by what was made for it. */
async function isQuiet(tx: Tx, id: string, made: readonly MadeAttempt[]): Promise<boolean> {
  if (!made.every(({ result }) => result.verdict === 'success')) return false;
  const known = await tx.subscriptions.peek(id);
  return known === null || made.every(({ at }) => staysAsItIs(known, at));
}

/** A success in a row of successes: most attempts change nothing of their subscription. */
const staysAsItIs = ({ consecutiveFailures, lastDeliveryAt }: Subscription, at: Date): boolean =>
  consecutiveFailures === 0 && isJustBefore(lastDeliveryAt, at);

/**
 * Writes what an attempt came to: the attempt, the next one's time or the end of the job, the
 * subscription's row of failures, and after a 410 the removal of the subscription. An attempt that
 * failed for a subscription that was removed meanwhile says nothing of its successor: the delivery
 * waits for that one.
 */
async function record(
  tx: Tx,
  holders: LineageHolders,
  made: MadeAttempt,
  retryDelaysMs: readonly number[],
  now: Date,
): Promise<Delivery | null> {
  const { at, result } = made;
  const { verdict, statusCode, durationMs, error, responseExcerpt } = result;
  const before = await tx.deliveries.get(made.deliveryId);
  if (!before) return null;
  const attempt = { at: timestamp(at), statusCode, durationMs, error, responseExcerpt };
  if (before.status !== 'pending' || before.nextAttemptAt !== made.nextAttemptAt)
    return recordLate(tx, before, attempt, verdict);
  const lineageId = before.subscriptionId;
  const { subscription, retired } = await holders.of(lineageId);
  const isRemoved = subscription?.id !== made.subscriptionId;
  const isGivenUp =
    isRemoved && verdict === 'gone' && retired !== null && (await endIfVacant(tx, retired));
  if (isGivenUp) holders.changed(lineageId, { subscription: null, retired: null });
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
  const isFinal = delivery.nextAttemptAt === null;
  holders.changed(lineageId, {
    subscription: await noteOn(tx, subscription, { verdict, at, isFinal }),
    retired: null,
  });
  return delivery;
}

/** @see recordLateAttempt; @returns null when it had ended before */
async function recordLate(
  tx: Tx,
  before: Delivery,
  attempt: Parameters<typeof recordLateAttempt>[1],
  verdict: AttemptVerdict,
): Promise<Delivery | null> {
  const delivery = recordLateAttempt(before, attempt, verdict);
  await tx.deliveries.put(delivery);
  if (before.status !== 'pending') return null;
  if (delivery.status !== 'pending') await tx.jobs.complete(delivery.id);
  return delivery;
}

/**
 * What an attempt says of its subscription. @returns the subscription as it stands; null after a
 * 410
 */
async function noteOn(
  tx: Tx,
  subscription: Subscription,
  { verdict, at, isFinal }: { verdict: AttemptVerdict; at: Date; isFinal: boolean },
): Promise<Subscription | null> {
  if (verdict === 'gone') {
    await tx.subscriptions.delete(subscription.id);
    return null;
  }
  const consecutiveFailures =
    verdict === 'success' ? 0 : subscription.consecutiveFailures + (isFinal ? 1 : 0);
  if (
    consecutiveFailures === subscription.consecutiveFailures &&
    isJustBefore(subscription.lastDeliveryAt, at)
  )
    return subscription;
  const noted: Subscription = {
    ...subscription,
    consecutiveFailures,
    lastDeliveryAt: timestamp(at),
  };
  await tx.subscriptions.put(noted);
  return noted;
}

/**
 * Nobody waits for a successor of what wants no more events. @returns false when a successor has
 * its place already
 */
async function endIfVacant(tx: Tx, { id }: RetiredSubscription): Promise<boolean> {
  const retired = await tx.retiredSubscriptions.get(id);
  if (!retired || !isVacant(retired)) return retired === null;
  await endRetirement(tx, retired);
  return true;
}
