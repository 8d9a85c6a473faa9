import { CURRENCIES, parseAmount } from '../../domain/currency.ts';
import type { Language } from '../agentModel.ts';
import { foldCase, wordSet } from '../words.ts';
import type { Found } from './dates.ts';

const SIGN = '(?:(?:r|us|u\\$s|s/)?[$€£] ?)?';
const UNIT = '(?: ?(?:kg|g|km|m|cm|mm|l|ml|x|%|€|\\$))?';
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_#/.,-])${SIGN}([-−])?(\\d[\\d.,]*\\d|\\d)(?![\\p{N}_/#@])(?!-[\\p{L}\\p{N}])${UNIT}(?![\\p{L}\\p{N}])`,
  'giu',
);

/** From two on: "one" is an article in Spanish and Portuguese. */
const NUMBER_WORDS: readonly ReadonlySet<string>[] = [
  ...['two dos dois duas', 'three tres', 'four cuatro quatro', 'five cinco', 'six seis'],
  ...['seven siete sete', 'eight ocho oito', 'nine nueve nove', 'ten diez dez'],
  ...['eleven once onze', 'twelve doce doze'],
].map((words) => wordSet(words));

/**
 * Every number in a text, in the order they are written.
 * @param wholeNumbers reads `1.234` and `1,234` as thousands in every language
 */
export function numbersIn(
  text: string,
  language: Language,
  wholeNumbers: boolean,
): readonly Found<number>[] {
  const digits = [...text.matchAll(NUMBER)].map((match) => ({
    value: parseNumber(match[2]!, language, wholeNumbers) * (match[1] === undefined ? 1 : -1),
    at: match.index,
    length: match[0].length,
  }));
  const words = [...text.matchAll(/\p{L}+/gu)].map((match) => ({
    value: NUMBER_WORDS.findIndex((names) => names.has(foldCase(match[0]))) + 2,
    at: match.index,
    length: match[0].length,
  }));
  return [...digits, ...words.filter(({ value }) => value >= 2)]
    .filter(({ value }) => Number.isFinite(value))
    .sort((a, b) => a.at - b.at);
}

/**
 * Of two kinds of separators the last one is the decimal point; a single one before three digits
 * depends on the language.
 */
function parseNumber(written: string, language: Language, wholeNumbers: boolean): number {
  const separators = written.replace(/\d/g, '');
  if (written.replace(/\D/g, '').length > 15) return NaN;
  const last = separators.at(-1);
  if (last === undefined) return Number(written);
  const isGrouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/.test(written);
  const marksThousands = last === (language === 'en' ? ',' : '.');
  if (isGrouped && (separators.length > 1 || wholeNumbers || marksThousands))
    return Number(written.replace(/\D/g, ''));
  const decimalAt = written.lastIndexOf(last);
  const whole = written.slice(0, decimalAt);
  const isWhole = /^\d+$/.test(whole) || /^\d{1,3}(?:([.,])\d{3})+$/.test(whole);
  if (!isWhole || whole.includes(last)) return NaN;
  return Number(`${whole.replace(/\D/g, '')}.${written.slice(decimalAt + 1)}`);
}

// ---- Money

/** An amount of money as a customer writes it. */
export interface Money {
  /** In the main unit. */
  readonly amount: number;
  /** ISO 4217, lower case. */
  readonly currency: string;
}

/** Codes that are words as well: "50 all", "50 pen". */
const WORDS_TOO = wordSet('all bob cup ern gel lak mad mop pen ron sos std top try');

/** Pesos and other names that several countries share do not say which currency is meant. */
const NAMES: readonly (readonly [pattern: string, currency: string])[] = [
  ['u\\$s|us\\$|u\\$d|usd\\$|(?:us|american) dollars?|dollars?|bucks|dolar(?:es)?', 'usd'],
  ['euros?|€', 'eur'],
  ['reais|real|r\\$', 'brl'],
  ['pounds?(?: sterling)?|libras esterlinas|£', 'gbp'],
  ['pesos mexicanos|mexican pesos|mx\\$', 'mxn'],
  ['pesos argentinos|argentine pesos', 'ars'],
  ['pesos colombianos|colombian pesos', 'cop'],
  ['pesos chilenos|chilean pesos', 'clp'],
  ['pesos uruguayos|uruguayan pesos', 'uyu'],
  ['(?:nuevos )?soles|s/\\.?', 'pen'],
];
const NAMED = NAMES.map(
  ([pattern, currency]) => [new RegExp(`^(?:${pattern})$`, 'u'), currency] as const,
);
const OF_OTHER_COUNTRIES = '(?! (?:canad|austral|hong|de hong|new|neo|nz|singap))';
const CODES = CURRENCIES.filter((code) => !WORDS_TOO.has(code)).join('|');
const CURRENCY = `(?:${NAMES.map(([pattern]) => pattern).join('|')}|${CODES}|\\$)`;
const THOUSANDS = '(?! ?(?:k|m|mm|mil|thousand|millon|million|milhao|milhoes)(?!\\p{L}))';
const AMOUNT = new RegExp(
  `(?<![\\p{L}\\p{N}.,/#$-])(?:(?<before>${CURRENCY}) ?)?(?<number>\\d[\\d.,]*\\d|\\d)${THOUSANDS}` +
    `(?:\\s?(?<after>${CURRENCY})(?![\\p{L}\\p{N}])${OF_OTHER_COUNTRIES})?(?![\\p{N}%/])`,
  'gu',
);

/**
 * The amounts of money in a text, each once: numbers with a currency beside them. `$` alone is the
 * US dollar in English, and says nothing in Spanish and Portuguese.
 */
export function moneyIn(text: string, language: Language): readonly Money[] {
  const found = [...foldCase(text).matchAll(AMOUNT)].flatMap(({ groups }) => {
    const written = groups?.after ?? groups?.before;
    const currency = written === undefined ? null : currencyOf(written, language);
    const amount = numbersIn(groups!.number!, language, false)[0]?.value;
    if (currency === null || amount === undefined) return [];
    return parseAmount(String(amount), currency) === null ? [] : [{ amount, currency }];
  });
  return [...new Map(found.map((money) => [`${money.amount} ${money.currency}`, money])).values()];
}

function currencyOf(written: string, language: Language): string | null {
  if (written === '$') return language === 'en' ? 'usd' : null;
  return NAMED.find(([pattern]) => pattern.test(written))?.[1] ?? written;
}
