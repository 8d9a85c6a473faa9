import type { Language } from '../agentModel.ts';
import { foldCase } from '../words.ts';
import type { Found } from './dates.ts';

const CURRENCY = '(?:(?:r|us|u\\$s|s/)?[$€£] ?)';
const UNIT = '(?: ?(?:kg|g|km|m|cm|mm|l|ml|x|%|€|\\$))';
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_#/.,-])${CURRENCY}?([-−])?(\\d[\\d.,]*\\d|\\d)(?![\\p{N}_/#@])(?!-[\\p{L}\\p{N}])${UNIT}?(?![\\p{L}\\p{N}])`,
  'giu',
);

/** From two on: "one" is an article in Spanish and Portuguese, and much else in English. */
const NUMBER_WORDS: readonly string[] = [
  'two|dos|dois|duas',
  'three|tres',
  'four|cuatro|quatro',
  'five|cinco',
  'six|seis',
  'seven|siete|sete',
  'eight|ocho|oito',
  'nine|nueve|nove',
  'ten|diez|dez',
  'eleven|once|onze',
  'twelve|doce|doze',
];
const NUMBER_WORD = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${NUMBER_WORDS.map((words) => `(${words})`).join('|')})(?![\\p{L}\\p{N}])`,
  'giu',
);
const ONE = /^(?:one|uno|una|un|um|uma|just one|solo una?|s[oó] uma?)$/iu;

/**
 * Every number in a text, in the order they are written.
 * @param text without dates and times
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
  }));
  const words = [...text.matchAll(NUMBER_WORD)].map((match) => ({
    value: match.slice(1).findIndex((word) => word !== undefined) + 2,
    at: match.index,
  }));
  const one = ONE.test(foldCase(text.trim())) ? [{ value: 1, at: 0 }] : [];
  return [...digits, ...words, ...one]
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
  const mixed = new Set(separators).size > 1;
  const thousandsOnly = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/.test(written);
  const isThousands =
    !mixed &&
    thousandsOnly &&
    (separators.length > 1 || wholeNumbers || last === (language === 'en' ? ',' : '.'));
  if (isThousands) return Number(written.replace(/\D/g, ''));
  const decimalAt = written.lastIndexOf(last);
  const whole = written.slice(0, decimalAt);
  if (!/^\d+$/.test(whole) && !/^\d{1,3}(?:([.,])\d{3})+$/.test(whole)) return NaN;
  if (whole.includes(last)) return NaN;
  return Number(`${whole.replace(/\D/g, '')}.${written.slice(decimalAt + 1)}`);
}
