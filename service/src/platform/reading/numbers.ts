import type { Language } from './language.ts';
import { foldCase, wordSet, wordsOf } from './words.ts';
import type { Found } from './dates.ts';
import { FUNCTION_WORDS } from './detectLanguage.ts';

const SIGN = '(?:(?:r|us|u\\$s|s/)?[$€£] ?)?';
const UNIT = '(?: ?(?:kg|g|km|m|cm|mm|l|ml|x|%|€|\\$))?';
const NUMBER = new RegExp(
  `(?<![\\p{L}\\p{N}_#/.,-])${SIGN}([-−])?(\\d[\\d.,]*\\d|\\d)(?![\\p{N}_/#@])(?!-[\\p{L}\\p{N}])${UNIT}(?![\\p{L}\\p{N}])`,
  'giu',
);

/** From two on, since "one" is an article in Spanish and Portuguese. */
const NUMBER_WORDS: readonly ReadonlySet<string>[] = [
  ...['two dos dois duas', 'three tres', 'four cuatro quatro', 'five cinco', 'six seis'],
  ...['seven siete sete', 'eight ocho oito', 'nine nueve nove', 'ten diez dez'],
  ...['eleven once onze', 'twelve doce doze'],
].map((words) => wordSet(words));

/** 2 for "two", up to 12; null for every other word. */
export function numberOfWord(word: string): number | null {
  const at = NUMBER_WORDS.findIndex((names) => names.has(foldCase(word)));
  return at < 0 ? null : at + 2;
}

/** Words that are numbers in another language only: "once" is eleven in Spanish, "dos" is two. */
const NO_NUMBERS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: wordSet('once'),
  es: wordSet('ten'),
  pt: wordSet('dos doce'),
};
const PREVIOUS_WORD = /([\p{L}\p{N}]+)[^\S\n]+$/u;

/**
 * "Dos" alone makes an answer look Portuguese, but there it means "of the" and follows a noun: "total
 * dos convidados", not "para dos personas".
 */
function isNumberIn(language: Language, word: string, before: string): boolean {
  if (!NO_NUMBERS[language].has(word)) return true;
  if (word !== 'dos') return false;
  const previous = PREVIOUS_WORD.exec(before.slice(-NEIGHBOURHOOD))?.[1];
  return previous === undefined || FUNCTION_WORDS.es.has(foldCase(previous));
}

/** Beside one of these, a number is a part of a larger one: "twenty-two", "5 mil". */
const LARGER_NUMBERS = wordSet(
  'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen',
  'veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento cientos doscientos',
  'doscientas trescientos trescientas cuatrocientos cuatrocientas quinientos quinientas seiscientos',
  'seiscientas setecientos setecientas ochocientos ochocientas novecientos novecientas mil millon',
  'millones docena docenas',
  'vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem cento duzentos duzentas',
  'trezentos trezentas quatrocentos quatrocentas quinhentos quinhentas seiscentos seiscentas',
  'setecentos setecentas oitocentos oitocentas novecentos novecentas milhao milhoes duzia duzias',
);
const WORD_BEFORE = /(\p{L}+)(?:[^\S\n]|-)+(?:(?:and|y|e)\s+)?$/iu;
const WORD_AFTER = /^(?:[^\S\n]|-)+(?:(?:and|y|e)\s+)?(\p{L}+)/iu;
/** "Two and a half", "2 e meia"; not "2 half portions". */
const AND_A_HALF =
  /^\s+(?:and|y|e)\s+(?:(?:a|un|una|um|uma)\s+)?(?:half|medi[oa]|mei[oa])(?!\p{L})/iu;
/** Longer than the words around a number. */
const NEIGHBOURHOOD = 40;

const isPartOfLarger = (text: string, { at, length }: Found<number>): boolean => {
  const end = at + length;
  const before = WORD_BEFORE.exec(text.slice(Math.max(0, at - NEIGHBOURHOOD), at));
  const rest = text.slice(end, end + NEIGHBOURHOOD);
  if (AND_A_HALF.test(rest)) return true;
  return [before, WORD_AFTER.exec(rest)].some(
    (found) => found && LARGER_NUMBERS.has(foldCase(found[1]!)),
  );
};

const ZERO = wordSet('zero cero');
const ONE = wordSet('one un uno una uma');

/**
 * 0 or 1 for a text that is "zero" or "one" and nothing else; null for any other. "Um" is one only
 * in Portuguese: elsewhere it is a hesitation.
 * @param languages in which it may be written
 */
export function zeroOrOne(text: string, languages: readonly Language[]): number | null {
  const words = wordsOf(text).join(' ');
  if (ZERO.has(words)) return 0;
  const isOne = ONE.has(words) || (words === 'um' && languages.every((each) => each === 'pt'));
  return isOne ? 1 : null;
}

/**
 * Every number in a text, in the order they are written. One that is partly in words that are not
 * read is NaN: "twenty-two", "5 mil".
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
  const words = [...text.matchAll(/\p{L}+/gu)]
    .filter(({ 0: word, index }) => isNumberIn(language, foldCase(word), text.slice(0, index)))
    .map((match) => ({
      value: numberOfWord(match[0]) ?? NaN,
      at: match.index,
      length: match[0].length,
    }));
  return [...digits, ...words]
    .filter(({ value }) => Number.isFinite(value))
    .map((found) => (isPartOfLarger(text, found) ? { ...found, value: NaN } : found))
    .sort((a, b) => a.at - b.at);
}

/**
 * Reads a number with separators. When both `.` and `,` occur, the last one is the decimal point.
 * For a single separator before three digits, the language decides: `1.234` is about one in
 * English, and more than a thousand in the others.
 * @returns NaN when the text is not a number, or has too many digits to be exact
 */
export function parseNumber(written: string, language: Language, wholeNumbers: boolean): number {
  const separators = written.replace(/\d/g, '');
  if (written.replace(/\D/g, '').length > 15) return NaN;
  const last = separators.at(-1);
  if (last === undefined) return Number(written);
  const isGrouped = /^[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*$/.test(written);
  const marksThousands = last === (language === 'en' ? ',' : '.');
  if (isGrouped && (separators.length > 1 || wholeNumbers || marksThousands))
    return Number(written.replace(/\D/g, ''));
  const decimalAt = written.lastIndexOf(last);
  const whole = written.slice(0, decimalAt);
  const isWhole = /^\d+$/.test(whole) || /^\d{1,3}(?:([.,])\d{3})+$/.test(whole);
  if (!isWhole || whole.includes(last)) return NaN;
  return Number(`${whole.replace(/\D/g, '')}.${written.slice(decimalAt + 1)}`);
}
