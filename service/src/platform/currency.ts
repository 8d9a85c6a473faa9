import { data } from 'currency-codes';

/**
 * Amounts of money: integers in minor units (cents; for JPY whole yen; for KWD thousandths).
 * ISO 4217 says which currencies there are and how many decimals each has.
 */

/** Codes of ISO 4217 that begin with X are precious metals, tests and the like, except for these. */
const MONEY_WITH_X = ['XAF', 'XCD', 'XOF', 'XPF'];

const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...data
    .filter(({ code }) => !code.startsWith('X') || MONEY_WITH_X.includes(code))
    .map(({ code, digits }) => [code.toLowerCase(), digits] as const),
  // The Caribbean guilder: in ISO 4217 since 2025 (amendment 176), but not yet in currency-codes.
  ['xcg', 2],
]);

/** Lower case, sorted. */
export const CURRENCIES: readonly string[] = [...DECIMALS.keys()].sort();

/** Twelve digits. */
export const MAX_AMOUNT_MINOR = 999_999_999_999;

export const isCurrency = (code: string): boolean => DECIMALS.has(code);

/** How many decimals a currency has. @param currency lower case @throws Error for an unknown one */
export function decimalsOf(currency: string): number {
  const decimals = DECIMALS.get(currency);
  if (decimals === undefined) throw new Error(`${currency} is not a currency`);
  return decimals;
}

/**
 * For people: `US$49.00`, `JP¥4,900`, `KWD 4.900`. Never a bare `$`, which many people read as
 * pesos.
 * @param amount minor units
 */
export function formatAmount(amount: number, currency: string, locale = 'en-001'): string {
  const digits = decimalsOf(currency);
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(minorToText(amount, digits) as `${number}`);
}

/** `4900` with two decimals → `49.00`; exact, whatever the size. */
export function minorToText(amount: number, decimals: number): string {
  if (decimals === 0) return String(amount);
  const digits = String(amount).padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/**
 * Reads an amount that a person typed in the main unit: `49`, `49.9`, `49,90`. Separators of
 * thousands are refused, and so is `4,900` in currencies with three decimals: some people mean four
 * thousand nine hundred, others four point nine.
 * @returns the exact amount in minor units; null when the text is not an amount, has more decimals
 * than the currency, or is not from 1 to MAX_AMOUNT_MINOR
 */
export function parseAmount(text: string, currency: string): number | null {
  const match = /^(\d{1,12})(?:([.,])(\d{1,4}))?$/.exec(text.trim());
  if (!match || !isCurrency(currency)) return null;
  const [, whole, separator, fraction = ''] = match;
  const decimals = decimalsOf(currency);
  if (fraction.length > decimals || (separator === ',' && fraction.length === 3)) return null;
  const amount = Number(whole + fraction.padEnd(decimals, '0'));
  return amount >= 1 && amount <= MAX_AMOUNT_MINOR ? amount : null;
}

/**
 * What `parseAmount` takes, in words: the end of a sentence that begins with the field.
 * @param currency lower case
 */
export function amountHint(currency: string): string {
  const decimals = decimalsOf(currency);
  const example = minorToText(49 * 10 ** decimals, decimals);
  const rule =
    decimals === 0
      ? 'without decimals or separators'
      : `with at most ${decimals} decimals and no separators between thousands`;
  return `must be an amount of ${currency.toUpperCase()} such as ${example}, ${rule}, more than 0 and at most ${minorToText(MAX_AMOUNT_MINOR, decimals)}`;
}
