import type { Tx } from '../../store/collections.ts';
import { timestamp } from '../../platform/clock.ts';
import { countAttempts, type RecordedAttempt } from '../counted.ts';
import {
  isAway,
  keepForNextReceiver,
  RANK,
  recordAttempt,
  recordLateAttempt,
  type Delivery,
} from '../delivery.ts';
import type { Deps } from '../../platform/deps.ts';
import { followUp, isRemoved, isSameAddress, type Subscription } from '../subscription.ts';
import type { AttemptResult } from './attempt.ts';

/** How precise `lastDeliveryAt` is, so that a burst does not write the subscription each time. */
const LAST_DELIVERY_PRECISION_MS = 1000;

/** An attempt that was made and is not recorded yet. */
export interface MadeAttempt {
  readonly deliveryId: string;
  readonly subscriptionId: string;
  /** The subscription's, when the attempt began. A revival or a takeover raises it. */
  readonly revision: number;
  /** The address that the attempt went to. */
  readonly targetUrl: string;
  /** The delivery's, when the attempt began. Another attempt changes it. */
  readonly nextAttemptAt: string | null;
  readonly result: AttemptResult;
  readonly at: Date;
}

/**
 * Records attempts, in one transaction.
 * @returns the delivery after each attempt; null when it is gone, or ended before the attempt did
 */
export const recordResults = (
  { store, clock }: Deps,
  attempts: readonly MadeAttempt[],
  retryDelaysMs: readonly number[],
): Promise<(Delivery | null)[]> =>
  store.transaction(async (tx) => {
    await lockAll(tx, attempts);
    const subscriptions = await readSubscriptions(tx, attempts);
    const now = clock.now();
    const recorded: (Delivery | null)[] = [];
    const counted: RecordedAttempt[] = [];
    for (const made of attempts) {
      const delivery = await record(tx, subscriptions, made, retryDelaysMs, now);
      recorded.push(delivery);
      if (delivery !== null) counted.push({ result: made.result, delivery });
    }
    await countAttempts(tx, counted, now);
    return recorded;
  });

/**
 * Locks the subscriptions that change, then the deliveries, in order of id, as all transactions do.
 */
async function lockAll(tx: Tx, attempts: readonly MadeAttempt[]): Promise<void> {
  const bySubscription = Map.groupBy(attempts, ({ subscriptionId }) => subscriptionId);
  const subscriptionIds = [...bySubscription.keys()].sort();
  const mayChange = await Promise.all(
    subscriptionIds.map((id) => maySubscriptionChange(tx, id, bySubscription.get(id)!)),
  );
  const changing = subscriptionIds.filter((_, i) => mayChange[i]);
  await Promise.all(changing.map((id) => tx.subscriptions.get(id)));
  const deliveryIds = attempts.map(({ deliveryId }) => deliveryId).sort();
  await Promise.all(deliveryIds.map((id) => tx.deliveries.get(id)));
}

/** Most attempts are one more success in a row, which leaves the subscription unchanged. */
async function maySubscriptionChange(
  tx: Tx,
  id: string,
  attempts: readonly MadeAttempt[],
): Promise<boolean> {
  if (attempts.some(({ result }) => result.verdict !== 'success')) return true;
  const subscription = await tx.subscriptions.peek(id);
  if (subscription === null) return false;
  if (subscription.consecutiveFailures > 0 || subscription.isAfterOutage) return true;
  return attempts.some(({ at }) => !isRecent(subscription.lastDeliveryAt, at));
}

/** Subscriptions by id, as the attempts recorded so far leave them. Null: it is gone. */
type Subscriptions = Map<string, Subscription | null>;

/**
 * Reads each subscription once, not once for each of its attempts. One that is not locked may have
 * changed since `lockAll` looked at it. If an attempt then has to write it, there is a conflict, and
 * the transaction runs again.
 */
async function readSubscriptions(tx: Tx, attempts: readonly MadeAttempt[]): Promise<Subscriptions> {
  const ids = [...new Set(attempts.map(({ subscriptionId }) => subscriptionId))];
  const subscriptions = await Promise.all(ids.map((id) => tx.subscriptions.peek(id)));
  return new Map(ids.map((id, i) => [id, subscriptions[i]!]));
}

/**
 * Whether `last` need not be moved to `at`: it is less than a second older, or even newer. Attempts
 * are recorded in the order in which they end, not in which they began.
 */
const isRecent = (last: string | null, at: Date): boolean =>
  last !== null && at.getTime() - Date.parse(last) < LAST_DELIVERY_PRECISION_MS;

async function record(
  tx: Tx,
  subscriptions: Subscriptions,
  made: MadeAttempt,
  retryDelaysMs: readonly number[],
  now: Date,
): Promise<Delivery | null> {
  const { verdict } = made.result;
  const before = await tx.deliveries.get(made.deliveryId);
  if (before === null) return null;
  const hasMovedOn = before.status !== 'pending' || before.nextAttemptAt !== made.nextAttemptAt;
  if (hasMovedOn) return recordLate(tx, before, made);

  const attempt = attemptOf(made);
  const subscription = subscriptions.get(made.subscriptionId) ?? null;
  const change = subscription && changeSince(subscription, made);
  if (subscription && change && mayReachNextReceiver(subscription, made)) {
    const waiting = keepForNextReceiver(before, attempt, change, now);
    await putWithJob(tx, waiting, RANK.new);
    return waiting;
  }

  const delivery = recordAttempt(before, attempt, verdict, retryDelaysMs, now, Math.random());
  await putWithJob(tx, delivery, RANK.behindNew);
  if (subscription === null) return delivery;
  if (verdict === 'gone') {
    await tx.subscriptions.delete(subscription.id);
    subscriptions.set(subscription.id, null);
  }
  // After a change, the answer says nothing about the receiver that the subscription has now.
  else if (change === null)
    subscriptions.set(
      subscription.id,
      await noteOnSubscription(tx, subscription, made, delivery, now),
    );
  return delivery;
}

const attemptOf = ({ at, result }: MadeAttempt) => ({
  at: timestamp(at),
  statusCode: result.statusCode,
  durationMs: result.durationMs,
  error: result.error,
  responseExcerpt: result.responseExcerpt,
  request: result.request,
});

/**
 * Records an attempt of a delivery that another process has gone on with.
 * @returns null when the delivery had already ended
 */
async function recordLate(tx: Tx, before: Delivery, made: MadeAttempt): Promise<Delivery | null> {
  const delivery = recordLateAttempt(before, attemptOf(made), made.result.verdict);
  await tx.deliveries.put(delivery);
  if (before.status !== 'pending') return null;
  if (delivery.status !== 'pending') await tx.jobs.complete(delivery.id);
  return delivery;
}

/** Whether the subscription was removed (or taken over) or moved during the attempt; null: neither. */
function changeSince(
  subscription: Subscription,
  { revision, targetUrl }: MadeAttempt,
): 'removed' | 'moved' | null {
  if (isRemoved(subscription) || subscription.revision !== revision) return 'removed';
  return isSameAddress(subscription.targetUrl, targetUrl) ? null : 'moved';
}

/**
 * Whether the attempt failed and the next receiver of a changed subscription may still get the
 * delivery. A 410 is final, unless there already is a next receiver.
 */
function mayReachNextReceiver(
  subscription: Subscription,
  { revision, targetUrl, result }: MadeAttempt,
): boolean {
  if (result.verdict !== 'gone') return result.verdict !== 'success';
  return subscription.revision !== revision || !isSameAddress(subscription.targetUrl, targetUrl);
}

/** Stores the delivery and sets the time of its next attempt, or ends its job. */
async function putWithJob(tx: Tx, delivery: Delivery, rank: number): Promise<void> {
  await tx.deliveries.put(delivery);
  if (delivery.nextAttemptAt === null) await tx.jobs.complete(delivery.id);
  else await tx.jobs.release(delivery.id, { runAt: Date.parse(delivery.nextAttemptAt), rank });
}

/**
 * Counts failed deliveries in a row, and notes the time of the last attempt. The first success after
 * an outage starts the catch-up.
 * @returns the subscription after that
 */
async function noteOnSubscription(
  tx: Tx,
  subscription: Subscription,
  { at, result }: MadeAttempt,
  delivery: Delivery,
  now: Date,
): Promise<Subscription> {
  const { consecutiveFailures: failures, isAfterOutage: wasAfterOutage = false } = subscription;
  const isSuccess = result.verdict === 'success';
  const hasFailed = !isSuccess && delivery.nextAttemptAt === null;
  const consecutiveFailures = isSuccess ? 0 : failures + (hasFailed ? 1 : 0);
  const isAfterOutage = !isSuccess && (wasAfterOutage || endsInOutage(delivery, result));
  const isUnchanged = consecutiveFailures === failures && isAfterOutage === wasAfterOutage;
  const isTimeRecent = isRecent(subscription.lastDeliveryAt, at);
  if (isUnchanged && isTimeRecent) return subscription;
  const noted: Subscription = {
    ...subscription,
    consecutiveFailures,
    isAfterOutage,
    lastDeliveryAt: isTimeRecent ? subscription.lastDeliveryAt : timestamp(at),
  };
  await tx.subscriptions.put(noted);
  if (wasAfterOutage && !isAfterOutage && subscription.catchUp)
    await tx.jobs.enqueue(followUp(subscription, 'catch_up', now, delivery.id));
  return noted;
}

/** A catch-up that fails is no new outage. Otherwise each catch-up would start the next. */
const endsInOutage = ({ status, trigger }: Delivery, { statusCode }: AttemptResult): boolean =>
  isAway(statusCode) && status === 'failed' && trigger !== 'catch_up';
