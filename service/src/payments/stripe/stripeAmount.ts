import { decimalsOf, minorToText } from '../../platform/currency.ts';

/**
 * Amounts as Stripe counts them: mostly in ISO 4217's minor units, with exceptions.
 * @see docs.stripe.com, "Supported currencies": zero-decimal currencies, special cases, maximum
 * amounts
 */

type StripeAmount =
  | { readonly unitAmount: number }
  | { readonly param: 'amount' | 'currency'; readonly message: string };

/** Stripe counts these in whole units. In ISO 4217, MGA has two decimals, and the others have none. */
const IN_WHOLE_UNITS = [
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
/** Stripe counts these in hundredths, although ISO 4217 gives them no decimals. */
const IN_HUNDREDTHS = ['isk', 'ugx'];
/** Counted in thousandths. Card networks accept multiples of ten only. */
const IN_THOUSANDTHS = ['bhd', 'jod', 'kwd', 'omr', 'tnd'];

const MAX_DIGITS: Readonly<Record<string, number>> = { idr: 12, cop: 10, inr: 9 };
const DEFAULT_MAX_DIGITS = 8;

/**
 * An amount in Stripe's units, or why Stripe does not accept it. `message` continues a sentence that
 * begins with the field's name.
 * @param amount minor units of ISO 4217, at least 1
 * @param currency ISO 4217, lower case
 */
export function stripeAmount(amount: number, currency: string): StripeAmount {
  const step = stepOf(currency);
  if (step === null)
    return {
      param: 'currency',
      message: `must be one that Stripe accepts, and ${currency} is not`,
    };
  if (amount % step !== 0)
    return {
      param: 'amount',
      message: `must end in ${String(step).slice(1)} with Stripe in ${currency}`,
    };
  const max = 10 ** (MAX_DIGITS[currency] ?? DEFAULT_MAX_DIGITS) - 1;
  const unitAmount = toStripeUnits(amount, currency);
  if (unitAmount > max) {
    const maxAmount = Math.floor(fromStripeUnits(max, currency) / step) * step;
    return {
      param: 'amount',
      message: `must be at most ${maxAmount} with Stripe in ${currency} (${minorToText(maxAmount, decimalsOf(currency))})`,
    };
  }
  return { unitAmount };
}

/**
 * The number that an amount in ISO 4217's units must be a multiple of.
 * @returns null for a currency that Stripe does not support
 */
function stepOf(currency: string): number | null {
  if (currency === 'mga') return 100;
  if (IN_THOUSANDTHS.includes(currency)) return 10;
  if (IN_WHOLE_UNITS.includes(currency) || IN_HUNDREDTHS.includes(currency)) return 1;
  return decimalsOf(currency) === 2 ? 1 : null;
}

/** From ISO 4217's units to Stripe's. */
function toStripeUnits(amount: number, currency: string): number {
  if (IN_HUNDREDTHS.includes(currency)) return amount * 100;
  return currency === 'mga' ? amount / 100 : amount;
}

/** From Stripe's units to ISO 4217's. */
function fromStripeUnits(units: number, currency: string): number {
  if (IN_HUNDREDTHS.includes(currency)) return units / 100;
  return currency === 'mga' ? units * 100 : units;
}
