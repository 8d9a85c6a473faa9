import type { Payment } from './payment.ts';

/**
 * When a payment is looked at again, and how long a provider that gave no answer is left alone.
 * Pure.
 */

/** The provider's own clock decides when its page ends: it is asked a little after ours says so. */
const EXPIRY_MARGIN_MS = 30_000;

const RETRY_WAITS_MS = [2000, 5000, 15_000, 60_000, 300_000] as const;
const LATE_WAITS_MS = [60_000, 300_000, 1_800_000, 3_600_000, 6 * 3_600_000] as const;

/** A bank's answer can come days after the customer paid; later than this, nobody waits for it. */
const WAIT_FOR_MONEY_MS = 30 * 24 * 3_600_000;

/** When it has to be looked at next, in ms since the epoch; null: not by itself. */
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

/** Before the next try after `attempts` that reached nobody. */
export const retryWaitMs = (attempts: number): number => waitOf(RETRY_WAITS_MS, attempts);

/** Before the next look at a payment whose time is over while its provider has not closed it. */
export const lateWaitMs = (attempts: number): number => waitOf(LATE_WAITS_MS, attempts);

export const isOver = ({ expiresAt }: Pick<Payment, 'expiresAt'>, now: Date): boolean =>
  Date.parse(expiresAt) <= now.getTime();

/** True when even money that is slow to arrive is not waited for any more. */
export const isGivenUp = ({ expiresAt }: Pick<Payment, 'expiresAt'>, now: Date): boolean =>
  Date.parse(expiresAt) + WAIT_FOR_MONEY_MS <= now.getTime();

const waitOf = (waits: readonly number[], attempts: number) =>
  waits[Math.min(Math.max(attempts, 1), waits.length) - 1]!;
