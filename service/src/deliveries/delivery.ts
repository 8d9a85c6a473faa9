import type { Document } from '../store/store.ts';
import type { EventName } from './event.ts';
import type { RequestStamp } from './request.ts';
import { timestamp } from '../platform/clock.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * Why a round of attempts began. `manual`: by a test event, redeliver or recover; it also goes out
 * while the subscription is paused. `catch_up`: after an outage, with a single attempt.
 */
export const TRIGGERS = ['automatic', 'manual', 'catch_up'] as const;
type Trigger = (typeof TRIGGERS)[number];

/** One HTTP request. */
export interface Attempt {
  readonly number: number;
  readonly at: string;
  /** Null when no answer came. */
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** Why it failed, in words; null for a success. */
  readonly error: string | null;
  readonly responseExcerpt: string | null;
  readonly trigger: Trigger;
  /** What its headers are built from. Absent in attempts of earlier versions. */
  readonly request?: RequestStamp;
}

/** One event owed to one subscription. */
export interface Delivery extends Document {
  readonly workspaceId: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly event: EventName;
  /** Whether the event is a sample that was sent as a test. */
  readonly isTest?: boolean;
  readonly status: DeliveryStatus;
  /** The newest `MAX_ATTEMPTS_KEPT`; their numbers tell how many there were. */
  readonly attempts: readonly Attempt[];
  /** How many attempts had been made when this round began. */
  readonly roundStart: number;
  /** How many attempts of this round use up no retry. Absent: none. */
  readonly freeAttempts?: number;
  readonly trigger: Trigger;
  /** Somebody asked for this delivery again: the receiver does not drop it as a duplicate. */
  readonly isRepeat: boolean;
  /** True once any attempt has succeeded. */
  readonly everDelivered: boolean;
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

/** The queue that deliveries wait in; its groups are subscriptions. */
export const DELIVERY_QUEUE = 'deliveries';
/** Of a subscription's due deliveries, those of the lower rank go first. */
export const RANK = { new: 0, behindNew: 1 } as const;
export const RESPONSE_EXCERPT_BYTES = 4096;

/** How an attempt ended. `gone`: the receiver answered 410. */
export type AttemptVerdict = 'success' | 'retry' | 'failure' | 'gone';

/**
 * 2xx succeeds; a 5xx and no answer at all are retried; everything else is final.
 * @see docs/events-and-signatures.md, "Retries and failures"
 */
export function judge(statusCode: number | null): AttemptVerdict {
  if (statusCode === null) return 'retry';
  if (statusCode >= 200 && statusCode < 300) return 'success';
  if (statusCode === 410) return 'gone';
  return statusCode >= 500 ? 'retry' : 'failure';
}

/** An attempt that has no number yet. */
type UnnumberedAttempt = Omit<Attempt, 'number' | 'trigger'>;

/**
 * Attempts that a delivery keeps: those of five rounds. A delivery can be sent again any number of
 * times, and each attempt stores the whole delivery again, with up to 4 KiB of each answer.
 */
export const MAX_ATTEMPTS_KEPT = 20;

/** How many attempts were made, including those that are no longer kept. */
export const attemptsMade = ({ attempts }: Pick<Delivery, 'attempts'>): number =>
  attempts.at(-1)?.number ?? 0;

const withAttempt = (delivery: Delivery, made: UnnumberedAttempt): readonly Attempt[] =>
  [
    ...delivery.attempts,
    { number: attemptsMade(delivery) + 1, ...made, trigger: delivery.trigger },
  ].slice(-MAX_ATTEMPTS_KEPT);

/**
 * The delivery after an attempt.
 * @param retryDelaysMs the wait before each retry of a round
 * @param random 0 to 1, for the jitter of ±20 %
 */
export function recordAttempt(
  delivery: Delivery,
  attempt: UnnumberedAttempt,
  verdict: AttemptVerdict,
  retryDelaysMs: readonly number[],
  now: Date,
  random: number,
): Delivery {
  const attempts = withAttempt(delivery, attempt);
  const recorded = { ...delivery, attempts, nextAttemptAt: null };
  if (verdict === 'success') return { ...recorded, status: 'delivered', everDelivered: true };

  const { roundStart, freeAttempts = 0 } = delivery;
  const delayMs = retryDelaysMs[attemptsMade({ attempts }) - roundStart - freeAttempts - 1];
  const mayRetry = verdict === 'retry' && delivery.trigger !== 'catch_up';
  if (mayRetry && delayMs !== undefined) {
    const jittered = delayMs * (0.8 + 0.4 * random);
    return {
      ...recorded,
      status: 'pending',
      nextAttemptAt: timestamp(new Date(now.getTime() + jittered)),
    };
  }
  // A later attempt that fails does not change that the event has arrived.
  return { ...recorded, status: delivery.everDelivered ? 'delivered' : 'failed' };
}

/**
 * The delivery after an attempt that ended late: its process stood still for longer than its lease,
 * and another process has gone on with the delivery. The attempt is recorded and uses up no retry.
 * Only a success changes what happens next.
 */
export function recordLateAttempt(
  delivery: Delivery,
  attempt: UnnumberedAttempt,
  verdict: AttemptVerdict,
): Delivery {
  const recorded = {
    ...delivery,
    attempts: withAttempt(delivery, attempt),
    freeAttempts: (delivery.freeAttempts ?? 0) + 1,
  };
  return verdict === 'success'
    ? { ...recorded, status: 'delivered', everDelivered: true, nextAttemptAt: null }
    : recorded;
}

/** What changed during a failed attempt, so that the event goes to the next receiver. */
const CHANGED_SINCE = {
  removed:
    'The subscription was removed or taken over during this attempt. If there is a new receiver, the event is sent again.',
  moved:
    'The address was changed during this attempt. The event is sent again, to the new address.',
} as const;

/**
 * The delivery after an attempt that failed while its subscription was removed, taken over or moved
 * to another address. It is sent to the next receiver, with a full set of retries.
 */
export function keepForNextReceiver(
  delivery: Delivery,
  attempt: UnnumberedAttempt,
  change: keyof typeof CHANGED_SINCE,
  now: Date,
): Delivery {
  const error = `${attempt.error ?? ''} ${CHANGED_SINCE[change]}`.trim();
  const attempts = withAttempt(delivery, { ...attempt, error });
  const freeAttempts = attemptsMade({ attempts }) - delivery.roundStart;
  return { ...delivery, attempts, freeAttempts, nextAttemptAt: timestamp(now) };
}

/**
 * Whether the delivery failed, and its last attempt was turned away at `since` or later: the
 * receiver did not know the address (404), or had another secret (401).
 */
export function wasTurnedAwaySince(delivery: Delivery, since: Date): boolean {
  const last = delivery.attempts.at(-1);
  if (!hasNotArrived(delivery) || last === undefined) return false;
  const isTurnedAway = last.statusCode === 404 || last.statusCode === 401;
  return isTurnedAway && Date.parse(last.at) >= since.getTime();
}

/** How far back a catch-up goes. */
export const CATCH_UP_MS = 24 * 60 * 60 * 1000;

/**
 * Whether the status means an outage of the receiver: a 5xx, no answer, or a 404, which n8n answers
 * while it starts, and some proxies while n8n is stopped.
 */
export const isAway = (statusCode: number | null): boolean =>
  statusCode === 404 || judge(statusCode) === 'retry';

/** Whether the delivery failed and its event never arrived. Nobody misses a test event. */
export const hasNotArrived = ({ status, isTest = false }: Delivery): boolean =>
  status === 'failed' && !isTest;

/** Whether a catch-up sends the delivery: it failed in an outage, and no catch-up has sent it. */
export const wasMissed = (delivery: Delivery): boolean =>
  hasNotArrived(delivery) &&
  isAway(delivery.attempts.at(-1)?.statusCode ?? null) &&
  delivery.attempts.every(({ trigger }) => trigger !== 'catch_up');

/** When a failed delivery failed, in milliseconds since the epoch. */
export function failedAtMs({ attempts, createdAt }: Delivery): number {
  const last = attempts.at(-1);
  const endedAt = last ? Date.parse(last.at) + last.durationMs : 0;
  return Math.max(endedAt, Date.parse(createdAt));
}

/** Whether recovering sends the delivery: it failed at `since` or later, however old its event is. */
export const hasFailedSince = (delivery: Delivery, since: Date): boolean =>
  hasNotArrived(delivery) && failedAtMs(delivery) >= since.getTime();

/** The delivery, queued for another round with a full set of retries. */
export const requeue = (
  delivery: Delivery,
  round: Pick<Delivery, 'trigger' | 'isRepeat'>,
  now: Date,
): Delivery => ({
  ...delivery,
  trigger: round.trigger,
  isRepeat: round.isRepeat,
  status: 'pending',
  roundStart: attemptsMade(delivery),
  freeAttempts: 0,
  nextAttemptAt: timestamp(now),
});
