import { decimalsOf, minorToText } from '../../domain/currency.ts';

/**
 * What Stripe calls an amount: mostly ISO 4217's minor units, with exceptions of its own.
 * @see docs.stripe.com, "Supported currencies": zero-decimal currencies, special cases, maximum
 * amounts
 */

export type StripeAmount =
  | { readonly unitAmount: number }
  | { readonly param: 'amount' | 'currency'; readonly message: string };

/** Counted whole by Stripe; MGA has two decimals in ISO 4217, the others have none there either. */
const WHOLE = [
  'bif',
  'clp',
  'djf',
  'gnf',
  'jpy',
  'kmf',
  'krw',
  'mga',
  'pyg',
  'rwf',
  'vnd',
  'vuv',
  'xaf',
  'xof',
  'xpf',
];
/** Counted in hundredths by Stripe, though they have none. */
const HUNDREDFOLD = ['isk', 'ugx'];
/** Thousandths, of which card networks take no single ones. */
const THOUSANDTHS = ['bhd', 'jod', 'kwd', 'omr', 'tnd'];

const MAX_DIGITS: Readonly<Record<string, number>> = { idr: 12, cop: 10, inr: 9 };
const DEFAULT_MAX_DIGITS = 8;

/**
 * An amount in Stripe's units, or why Stripe cannot take it (as the end of a sentence that begins
 * with the field).
 * @param amount minor units of ISO 4217, at least 1
 * @param currency ISO 4217, lower case
 */
export function stripeAmount(amount: number, currency: string): StripeAmount {
  const step = stepOf(currency);
  if (step === null)
    return { param: 'currency', message: `must be one that Stripe takes, and ${currency} is not` };
  if (amount % step !== 0)
    return {
      param: 'amount',
      message: `must end in ${String(step).slice(1)} with Stripe in ${currency}`,
    };
  const max = 10 ** (MAX_DIGITS[currency] ?? DEFAULT_MAX_DIGITS) - 1;
  const unitAmount = inUnits(amount, currency);
  if (unitAmount > max) {
    const most = Math.floor(fromUnits(max, currency) / step) * step;
    return {
      param: 'amount',
      message: `must be at most ${most} with Stripe in ${currency} (${minorToText(most, decimalsOf(currency))})`,
    };
  }
  return { unitAmount };
}

/**
 * What an amount in ISO 4217's units must be a multiple of; null for a currency that Stripe does
 * not have.
 */
function stepOf(currency: string): number | null {
  if (currency === 'mga') return 100;
  if (THOUSANDTHS.includes(currency)) return 10;
  if (WHOLE.includes(currency) || HUNDREDFOLD.includes(currency)) return 1;
  return decimalsOf(currency) === 2 ? 1 : null;
}

/** ISO 4217's units in Stripe's. */
function inUnits(amount: number, currency: string): number {
  if (HUNDREDFOLD.includes(currency)) return amount * 100;
  return currency === 'mga' ? amount / 100 : amount;
}

/** And back. */
function fromUnits(units: number, currency: string): number {
  if (HUNDREDFOLD.includes(currency)) return units / 100;
  return currency === 'mga' ? units * 100 : units;
}
