import type { Document } from '../store/store.ts';
import { timestamp } from './clock.ts';
import type { EventName } from './event.ts';

/** One event owed to one subscription, and the pure rules of its attempts. */

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One HTTP try. */
export interface Attempt {
  readonly number: number;
  readonly at: string;
  /** Null when no answer came. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** Why it failed, in words; null for a success. */
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  readonly trigger: 'automatic' | 'manual';
}

export interface Delivery extends Document {
  readonly workspaceId: string;
  /** The lineage of the subscription it is owed to; see `lineageOf`. */
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly event: EventName;
  readonly status: DeliveryStatus;
  /** The newest ones, at most `MAX_ATTEMPTS_KEPT`; their numbers tell how many there were. */
  readonly attempts: readonly Attempt[];
  /** How many attempts had been made when it was last queued: each round has its own retries. */
  readonly roundStart: number;
  /** `manual` when the round was asked for by redeliver or recover. */
  readonly trigger: 'automatic' | 'manual';
  /**
   * Asked for one by one, by redeliver: the receiver should take it although it may have taken it
   * before. Absent in what older versions stored; see `askedToRepeat`.
   */
  readonly isRepeat?: boolean;
  /** True once any attempt has succeeded. */
  readonly everDelivered: boolean;
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

/** The queue that deliveries wait in; its groups are subscriptions. */
export const DELIVERY_QUEUE = 'deliveries';
export const RESPONSE_EXCERPT_BYTES = 4096;

/** What an attempt came to. `gone`: the receiver answered 410. */
export type AttemptVerdict = 'success' | 'retry' | 'failure' | 'gone';

/** 2xx succeeds; a 5xx and no answer at all are retried; everything else is final. */
export function judge(statusCode: number | null): AttemptVerdict {
  if (statusCode === null) return 'retry';
  if (statusCode >= 200 && statusCode < 300) return 'success';
  if (statusCode === 410) return 'gone';
  return statusCode >= 500 ? 'retry' : 'failure';
}

/** What an attempt came to, before the record numbers it. */
type AttemptMade = Omit<Attempt, 'number' | 'trigger'>;

/**
 * Kept of a delivery: those of five rounds. It can be sent again without end, and each attempt
 * writes the whole delivery, with up to 4 KiB of each answer.
 */
export const MAX_ATTEMPTS_KEPT = 20;

/** How many attempts were made, those that are not kept any more included. */
export const attemptsMade = ({ attempts }: Pick<Delivery, 'attempts'>): number =>
  attempts.at(-1)?.number ?? 0;

const withAttempt = (delivery: Delivery, made: AttemptMade): readonly Attempt[] =>
  [
    ...delivery.attempts,
    { number: attemptsMade(delivery) + 1, ...made, trigger: delivery.trigger },
  ].slice(-MAX_ATTEMPTS_KEPT);

/**
 * The delivery after an attempt.
 * @param retryDelaysMs the waits between the attempts of a round; their number is the number of
 * retries
 * @param random 0 to 1, for the jitter of ±20 %
 */
export function recordAttempt(
  delivery: Delivery,
  attempt: AttemptMade,
  verdict: AttemptVerdict,
  retryDelaysMs: readonly number[],
  now: Date,
  random: number,
): Delivery {
  const attempts = withAttempt(delivery, attempt);
  const recorded = { ...delivery, attempts, nextAttemptAt: null };
  if (verdict === 'success') return { ...recorded, status: 'delivered', everDelivered: true };

  const delayMs = retryDelaysMs[attemptsMade({ attempts }) - delivery.roundStart - 1];
  if (verdict === 'retry' && delayMs !== undefined) {
    const jittered = delayMs * (0.8 + 0.4 * random);
    return {
      ...recorded,
      status: 'pending',
      nextAttemptAt: timestamp(new Date(now.getTime() + jittered)),
    };
  }
  // A second sending that fails does not undo that the event has arrived once.
  return { ...recorded, status: delivery.everDelivered ? 'delivered' : 'failed' };
}

/**
 * The delivery after an attempt that came to its end when the delivery had moved on: its process
 * stood still for longer than its lease, and another one has taken over. It is on record, takes no
 * retry from the others, and changes nothing of what is to come, unless it was the success that all
 * of them are for.
 */
export function recordLateAttempt(
  delivery: Delivery,
  attempt: AttemptMade,
  verdict: AttemptVerdict,
): Delivery {
  const recorded = {
    ...delivery,
    attempts: withAttempt(delivery, attempt),
    roundStart: delivery.roundStart + 1,
  };
  return verdict === 'success'
    ? { ...recorded, status: 'delivered', everDelivered: true, nextAttemptAt: null }
    : recorded;
}

/**
 * Said of an attempt whose receiver was being replaced: what it came to is not held against the
 * event.
 */
const REMOVED_MEANWHILE =
  'Its subscription was removed at that time; the event is kept for the one that takes its place.';

/**
 * The delivery after an attempt that failed for a subscription which was removed meanwhile: its
 * successor has a full set of retries.
 */
export function keepForSuccessor(delivery: Delivery, attempt: AttemptMade, now: Date): Delivery {
  const error = `${attempt.error ?? ''} ${REMOVED_MEANWHILE}`.trim();
  return requeue(
    { ...delivery, attempts: withAttempt(delivery, { ...attempt, error }) },
    delivery,
    now,
  );
}

/** Whether its last attempt met a receiver that was not there (any more), since that time. */
export function wasNotFoundSince({ status, attempts }: Delivery, since: Date): boolean {
  const last = attempts.at(-1);
  return status === 'failed' && last?.statusCode === 404 && Date.parse(last.at) >= since.getTime();
}

/** Whether it failed for good at that time or later, however old its event is. */
export function hasFailedSince({ status, attempts, createdAt }: Delivery, since: Date): boolean {
  const last = attempts.at(-1);
  const endedAt = last ? Date.parse(last.at) + last.durationMs : 0;
  return status === 'failed' && Math.max(endedAt, Date.parse(createdAt)) >= since.getTime();
}

/** Whether the receiver is told to take it although it may have taken it before. */
export const askedToRepeat = ({
  trigger,
  isRepeat = trigger === 'manual',
}: Pick<Delivery, 'trigger' | 'isRepeat'>): boolean => isRepeat;

/**
 * The delivery queued once more, with a full set of retries. @param round what is new about them
 */
export const requeue = (
  delivery: Delivery,
  round: Pick<Delivery, 'trigger' | 'isRepeat'>,
  now: Date,
): Delivery => ({
  ...delivery,
  trigger: round.trigger,
  isRepeat: askedToRepeat(round),
  status: 'pending',
  roundStart: attemptsMade(delivery),
  nextAttemptAt: timestamp(now),
});
