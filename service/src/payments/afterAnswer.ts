import { timestamp } from '../platform/clock.ts';
import {
  confirm,
  expire,
  isConfirmationOverdue,
  isOver,
  lateWaitMs,
  newWork,
  endsAt,
  retryWaitMs,
  withoutWork,
  type Payment,
  type PaymentInWork,
} from './payment.ts';
import type { CheckResult, CreateResult } from './paymentAdapter.ts';

/** What a provider's answer changes about a payment, unless the answer is `paid`. Pure. */

type Answer = Exclude<CreateResult | CheckResult, { type: 'paid' }>;

/**
 * After so many checks without an answer, an open link is not asked about any more: the webhook
 * tells how it ended, or the check after it has expired.
 */
const MAX_CHECKS_IN_A_ROW = 5;

/** @param payment the payment as it is now, with the work that the answer is for */
export function afterAnswer(payment: PaymentInWork, answer: Answer, now: Date): Payment {
  switch (answer.type) {
    case 'created':
      return withPage(payment, answer, now);
    case 'expired':
      return afterExpiry(payment, now);
    case 'open':
      return canBeClosed(payment, now)
        ? closeAgain(payment, now)
        : stillOpen({ ...payment, checkedAt: timestamp(now) }, now);
    case 'confirming':
      return stillOpen(confirm({ ...payment, checkedAt: timestamp(now) }, now), now);
    case 'refused':
      return afterRefusal(payment, answer.error, now);
    case 'unreachable':
      return afterNoAnswer(payment, answer.error, now);
  }
}

/**
 * The provider made its page. If the link has ended unpaid since, the page is closed again. A link
 * that failed stays without the page's address: one that failed with a page was refused by a bank.
 */
export function withPage(
  payment: Payment,
  { reference, url }: { reference: string; url: string },
  now: Date,
): Payment {
  const providerUrl = payment.status === 'failed' ? null : url;
  const page = withoutWork({ ...payment, providerReference: reference, providerUrl }, now);
  if (payment.status === 'creating') return { ...page, status: 'open', error: null };
  return payment.status === 'paid' ? page : { ...page, work: newWork('expire', now) };
}

/** The page is closed. A link that failed keeps the reason. */
function afterExpiry(payment: PaymentInWork, now: Date): Payment {
  const error = payment.status === 'failed' ? payment.error : null;
  return withoutWork(expire({ ...payment, error, checkedAt: timestamp(now) }, now), now);
}

export const createFailed = (payment: Payment, error: string, now: Date): Payment =>
  withoutWork({ ...payment, status: 'failed', error }, now);

/** The provider's account was removed, so it can no longer be asked. */
export function withoutAccount(payment: PaymentInWork, label: string, now: Date): Payment {
  const gone = `${label} is no longer set up here`;
  if (payment.work.task === 'create') return createFailed(payment, `${gone}.`, now);
  if (payment.status === 'cancelled')
    return withoutWork({ ...payment, error: `${gone}. Its page may still be open.` }, now);
  if (!isOver(payment, now)) return { ...payment, work: null };
  return withoutWork(
    { ...payment, status: 'expired', error: `${gone}. Check there whether this was paid.` },
    now,
  );
}

function afterRefusal(payment: PaymentInWork, error: string, now: Date): Payment {
  if (payment.work.task === 'create') return createFailed(payment, error, now);
  if (payment.work.task === 'expire')
    return watch({ ...payment, error: `The provider did not close its page: ${error}` }, now);
  return isAwaited(payment, now) ? watch({ ...payment, error }, now) : { ...payment, work: null };
}

function afterNoAnswer(payment: PaymentInWork, error: string, now: Date): Payment {
  const { task, attempts } = payment.work;
  if (task === 'create' && isOver(payment, now)) return createFailed(payment, error, now);
  if (task === 'create') return again({ ...payment, error }, retryWaitMs(attempts), now);
  if (task === 'expire' && !isOver(payment, now)) return again(payment, retryWaitMs(attempts), now);
  if (isAwaited(payment, now)) return watch({ ...payment, error }, now);
  return attempts < MAX_CHECKS_IN_A_ROW
    ? again(payment, retryWaitMs(attempts), now)
    : { ...payment, work: null };
}

/** Whether a page that its provider still shows is to be closed, again if it was refused before. */
const canBeClosed = (payment: PaymentInWork, now: Date): boolean =>
  payment.work.task === 'check' && (payment.status !== 'open' || endsAt(payment) <= now.getTime());

const closeAgain = (payment: PaymentInWork, now: Date): Payment =>
  again({ ...payment, work: { ...payment.work, task: 'expire' } }, 0, now);

/** The provider has answered, so an error about not reaching it no longer applies. */
function stillOpen(payment: PaymentInWork, now: Date): Payment {
  const asked = payment.status === 'open' ? { ...payment, error: null } : payment;
  return isAwaited(asked, now) ? watch(asked, now) : { ...asked, work: null };
}

/** Whether the provider is asked how the link ended: its time is over, or it was cancelled. */
const isAwaited = (payment: Payment, now: Date): boolean =>
  payment.status !== 'open' || isOver(payment, now);

/** Asks again after longer and longer waits, until a month after the link expired. */
function watch(payment: PaymentInWork, now: Date): Payment {
  if (isConfirmationOverdue(payment, now)) return withoutWork(expire(payment, now), now);
  return again(
    { ...payment, work: { ...payment.work, task: 'check' } },
    lateWaitMs(payment.work.attempts),
    now,
  );
}

const again = (payment: PaymentInWork, waitMs: number, now: Date): Payment => ({
  ...payment,
  work: { ...payment.work, runAt: timestamp(new Date(now.getTime() + waitMs)) },
});
