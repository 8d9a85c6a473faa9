import { timestamp } from '../domain/clock.ts';
import type { Payment, PaymentWork } from '../domain/payment.ts';
import { isGivenUp, isOver, lateWaitMs, retryWaitMs } from '../domain/paymentWork.ts';
import type { CheckResult, CreateResult } from './paymentAdapter.ts';

/** What a provider's answer makes of a payment. Pure; that it was paid is not told here. */

type PaymentInWork = Payment & { readonly work: PaymentWork };
export type Answer = Exclude<CreateResult | CheckResult, { type: 'paid' }>;

/**
 * A customer who comes back is waited for with so many tries; then the webhook, or the end of its
 * time, tells.
 */
const CHECKS_IN_A_ROW = 5;

/** @param payment as it stands now, with the very work that was answered */
export function afterAnswer(payment: PaymentInWork, answer: Answer, now: Date): Payment {
  switch (answer.type) {
    case 'created':
      return withPage(payment, answer, now);
    case 'expired':
      return withoutWork(
        payment.status === 'open'
          ? { ...payment, status: 'expired', checkedAt: timestamp(now) }
          : payment,
        now,
      );
    case 'open':
      return stillOpen({ ...payment, checkedAt: timestamp(now) }, now);
    case 'confirming':
      return stillOpen(
        {
          ...payment,
          checkedAt: timestamp(now),
          confirmingSince: payment.confirmingSince ?? timestamp(now),
        },
        now,
      );
    case 'refused':
      return afterRefusal(payment, answer.error, now);
    case 'unreachable':
      return afterSilence(payment, answer.error, now);
  }
}

/** The page is there. A link that was cancelled meanwhile has it closed. */
export function withPage(
  payment: Payment,
  { reference, url }: { reference: string; url: string },
  now: Date,
): Payment {
  const page = {
    ...payment,
    providerReference: reference,
    providerUrl: url,
    updatedAt: timestamp(now),
  };
  if (payment.status === 'creating') return { ...page, status: 'open', error: null, work: null };
  return {
    ...page,
    work: payment.status === 'paid' ? null : { task: 'expire', attempts: 0, runAt: timestamp(now) },
  };
}

export const createFailed = (payment: Payment, error: string, now: Date): Payment =>
  withoutWork({ ...payment, status: 'failed', error }, now);

/** The account was removed: nobody can be asked any more. */
export function withoutAccount(payment: PaymentInWork, label: string, now: Date): Payment {
  const gone = `${label} is not set up here any more`;
  if (payment.work.task === 'create') return createFailed(payment, `${gone}.`, now);
  if (payment.status === 'cancelled')
    return withoutWork({ ...payment, error: `${gone}: the page there may still be open.` }, now);
  if (!isOver(payment, now)) return { ...payment, work: null };
  return withoutWork(
    { ...payment, status: 'expired', error: `${gone}: whether this was paid is to be seen there.` },
    now,
  );
}

function afterRefusal(payment: PaymentInWork, error: string, now: Date): Payment {
  if (payment.work.task === 'create') return createFailed(payment, error, now);
  if (payment.work.task === 'expire')
    return watch({ ...payment, error: `The page at the provider was not closed: ${error}` }, now);
  return isAwaited(payment, now) ? watch({ ...payment, error }, now) : { ...payment, work: null };
}

function afterSilence(payment: PaymentInWork, error: string, now: Date): Payment {
  const { task, attempts } = payment.work;
  if (task === 'create' && isOver(payment, now)) return createFailed(payment, error, now);
  if (task === 'create') return again({ ...payment, error }, retryWaitMs(attempts), now);
  if (task === 'expire' && !isOver(payment, now)) return again(payment, retryWaitMs(attempts), now);
  if (isAwaited(payment, now)) return watch({ ...payment, error }, now);
  return attempts < CHECKS_IN_A_ROW
    ? again(payment, retryWaitMs(attempts), now)
    : { ...payment, work: null };
}

/** What stood in the way of asking is over; that a page was not closed stays said. */
function stillOpen(payment: PaymentInWork, now: Date): Payment {
  const asked = payment.status === 'open' ? { ...payment, error: null } : payment;
  return isAwaited(asked, now) ? watch(asked, now) : { ...asked, work: null };
}

/**
 * True where nothing else would look at it again: its time is over, or it was cancelled while its
 * page may still take money.
 */
const isAwaited = (payment: Payment, now: Date): boolean =>
  payment.status !== 'open' || isOver(payment, now);

/** Looks again, later and later; after a month the money does not come any more. */
function watch(payment: PaymentInWork, now: Date): Payment {
  if (isGivenUp(payment, now))
    return withoutWork(
      payment.status === 'open' ? { ...payment, status: 'expired' } : payment,
      now,
    );
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

const withoutWork = (payment: Payment, now: Date): Payment => ({
  ...payment,
  work: null,
  updatedAt: timestamp(now),
});
