import { timestamp } from './clock.ts';
import type { Payment, PaymentWork } from './payment.ts';

/** How a payment link moves on, and when its provider is asked again. Pure. */

/** Providers close a page by their own clock, so they are asked a little after ours says so. */
const EXPIRY_MARGIN_MS = 30_000;
const RETRY_WAITS_MS = [2000, 5000, 15_000, 60_000, 300_000] as const;
const LATE_WAITS_MS = [60_000, 300_000, 1_800_000, 3_600_000, 6 * 3_600_000] as const;
/** A bank can take days to confirm a payment. After this time, the service stops asking. */
const WAIT_FOR_MONEY_MS = 30 * 24 * 3_600_000;

/** When the payment is looked at next, in ms since the epoch; null when nothing is scheduled. */
export function nextWorkAt({
  work,
  status,
  expiresAt,
  providerUrl,
}: Pick<Payment, 'work' | 'status' | 'expiresAt' | 'providerUrl'>): number | null {
  if (work) return Date.parse(work.runAt);
  if (status !== 'open') return null;
  return Date.parse(expiresAt) + (providerUrl === null ? 0 : EXPIRY_MARGIN_MS);
}

/** The wait after an attempt that got no answer. @param attempts made so far */
export const retryWaitMs = (attempts: number): number => waitOf(RETRY_WAITS_MS, attempts);

/** The wait before asking again about a link that is over but not closed by its provider. */
export const lateWaitMs = (attempts: number): number => waitOf(LATE_WAITS_MS, attempts);

const waitOf = (waits: readonly number[], attempts: number) =>
  waits[Math.min(Math.max(attempts, 1), waits.length) - 1]!;

export const isOver = ({ expiresAt }: Pick<Payment, 'expiresAt'>, now: Date): boolean =>
  Date.parse(expiresAt) <= now.getTime();

/** Whether the time for slow money is over too. */
export const isGivenUp = ({ expiresAt }: Pick<Payment, 'expiresAt'>, now: Date): boolean =>
  Date.parse(expiresAt) + WAIT_FOR_MONEY_MS <= now.getTime();

export const newWork = (task: PaymentWork['task'], now: Date): PaymentWork => ({
  task,
  attempts: 0,
  runAt: timestamp(now),
});

/** A payment that nothing more is done about. */
export const withoutWork = (payment: Payment, now: Date): Payment => ({
  ...payment,
  work: null,
  updatedAt: timestamp(now),
});

const REFUSED_BY_BANK =
  "The customer's bank refused the payment, so nothing was paid. Make a new link.";

/** The link expired, or its provider closed its page. */
export const expire = (payment: Payment, now: Date): Payment =>
  endUnpaid(payment, { status: 'expired' }, now);

/** The customer's bank refused the payment. */
export const refuseByBank = (payment: Payment, now: Date): Payment =>
  endUnpaid(payment, { status: 'failed', error: REFUSED_BY_BANK }, now);

/** A cancelled link stays cancelled and needs no more work. A link that has ended stays as it is. */
function endUnpaid(
  payment: Payment,
  ending: Pick<Payment, 'status'> & Partial<Pick<Payment, 'error'>>,
  now: Date,
): Payment {
  if (payment.status === 'open') return withoutWork({ ...payment, ...ending }, now);
  return payment.status === 'cancelled' ? { ...payment, work: null } : payment;
}

/** The customer has finished at the provider, and a bank still has to confirm. */
export function confirm<P extends Payment>(payment: P, now: Date): P {
  const canBePaid = payment.status === 'open' || payment.status === 'cancelled';
  if (!canBePaid || payment.confirmingSince !== undefined) return payment;
  return { ...payment, confirmingSince: timestamp(now), updatedAt: timestamp(now) };
}
