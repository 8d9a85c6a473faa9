import { CURRENCIES, parseAmount } from '../../domain/currency.ts';
import type { Language } from '../agentModel.ts';
import { foldCase, wordSet } from '../words.ts';
import { numbersIn } from './numbers.ts';

/** An amount of money as a customer writes it. */
export interface Money {
  /** In the main unit. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
}

/** Codes that are words as well: "50 all", "50 pen". */
const WORDS_TOO = wordSet('all bob cup ern gel lak mad mop pen ron sos std top try');

const OF_OTHERS = '(?! (?:canad|austral|de hong|hong|neo|new|nz|singap|jama|taiw))';

/**
 * What stands behind a number. Pesos and other names that several countries share are no answer to
 * which.
 */
const NAMED: readonly (readonly [words: string, currency: string])[] = [
  ['(?:us|american) dollars?', 'usd'],
  [`(?:dollars?|bucks|dolar(?:es)?)(?: (?:americanos?|estadounidenses?))?${OF_OTHERS}`, 'usd'],
  ['(?:u\\$s|us\\$|u\\$d|usd\\$)', 'usd'],
  ['(?:euros?|€)', 'eur'],
  ['(?:reais|real|r\\$)', 'brl'],
  ['(?:british pounds?|pounds?(?: sterling)?|libras esterlinas|£)', 'gbp'],
  ['pesos mexicanos|mexican pesos', 'mxn'],
  ['pesos argentinos|argentine pesos', 'ars'],
  ['pesos colombianos|colombian pesos', 'cop'],
  ['pesos chilenos|chilean pesos', 'clp'],
  ['pesos uruguayos|uruguayan pesos', 'uyu'],
  ['(?:nuevos )?soles', 'pen'],
  ['(?:yen|yenes|ienes)', 'jpy'],
];

/** What stands before one. */
const SIGNS: readonly (readonly [sign: string, currency: string])[] = [
  ['u\\$s|us\\$|u\\$d|usd\\$', 'usd'],
  ['r\\$', 'brl'],
  ['mx\\$', 'mxn'],
  ['ca?\\$', 'cad'],
  ['au?\\$', 'aud'],
  ['s/\\.?', 'pen'],
  ['€', 'eur'],
  ['£', 'gbp'],
];

const CODES = CURRENCIES.filter((code) => !WORDS_TOO.has(code)).join('|');
const either = (list: readonly (readonly [string, string])[]) =>
  list.map(([words]) => words).join('|');

const AMOUNT = new RegExp(
  `(?<![\\p{L}\\p{N}.,/#$-])(?:(?<before>${CODES}|${either(SIGNS)}|\\$) ?)?(?<number>\\d[\\d.,]*\\d|\\d)` +
    `(?! ?(?:k|m|mm|mil|thousand|mill?i?on(?:s|es)?|milh(?:ao|oes))(?!\\p{L}))(?:\\s?(?<after>${either(NAMED)}|${CODES}|\\$)(?![\\p{L}\\p{N}]))?(?![\\p{N}%/])`,
  'gu',
);

/**
 * The amounts of money in a text, each once: numbers with a currency beside them that can be one
 * only.
 * `$` alone is the US dollar where English is spoken, and says nothing elsewhere.
 */
export function moneyIn(text: string, language: Language): readonly Money[] {
  const found = [...foldCase(text).matchAll(AMOUNT)]
    .map(({ groups }) => moneyOf(groups as unknown as Groups, language))
    .filter((money) => money !== null);
  return [...new Map(found.map((money) => [`${money.amount} ${money.currency}`, money])).values()];
}

interface Groups {
  readonly before?: string;
  readonly number: string;
  readonly after?: string;
}

function moneyOf({ before, number, after }: Groups, language: Language): Money | null {
  const currency = currencyOf(after, language) ?? currencyOf(before, language);
  const amount = numbersIn(number, language, false)[0]?.value;
  if (currency === null || amount === undefined) return null;
  return parseAmount(String(amount), currency) === null ? null : { amount, currency };
}

function currencyOf(written: string | undefined, language: Language): string | null {
  if (written === undefined) return null;
  if (written === '$') return language === 'en' ? 'usd' : null;
  const named = [...NAMED, ...SIGNS].find(([words]) =>
    new RegExp(`^(?:${words})$`, 'u').test(written),
  );
  return named?.[1] ?? (CURRENCIES.includes(written) ? written : null);
}
