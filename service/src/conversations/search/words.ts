import { foldForSearch } from './folding.ts';

/**
 * The words by which texts are found, without case and accents. A compound such as `A-1042` or
 * `maria@example.com`, and a number such as `+54 9 11 5555-0134`, is found by its parts and also as
 * one word: with or without the signs, and from any of its parts on (`example.com`).
 * @see docs/decisions/0049-search-in-what-was-said.md
 */

/** A word of a text, and where it stands there. */
interface WordAt {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Longer words are found by their beginning. */
export const MAX_WORD_CHARACTERS = 64;
/** Fewer digits of a phone number say nothing. */
const MIN_END_DIGITS = 3;

const LETTER = '[\\p{L}\\p{M}\\p{N}]';
const SIGN = /[-_.@'’/+&:]/;
/** Words with single signs between them, as in an e-mail or an order number. */
const COMPOUND = new RegExp(`${LETTER}+(?:${SIGN.source}${LETTER}+)*`, 'gu');
/** The same for a text that is ASCII throughout: much faster. */
const ASCII_COMPOUND = new RegExp(`[A-Za-z0-9]+(?:${SIGN.source}[A-Za-z0-9]+)*`, 'g');
const PART = new RegExp(`${LETTER}+`, 'gu');
/** In scripts without spaces between words, each character counts as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*/u;
const UNSPACED_PARTS = new RegExp(`${UNSPACED.source}|(?:(?!${UNSPACED.source})${LETTER})+`, 'gu');
const ASCII = /^[\0-\x7f]*$/;
/** From 7 to 15 digits in one line, as people write a phone number. */
const NUMBER = /\d(?:(?:(?![\r\n])[\s().\-/]){0,3}\d){6,}/g;
const MAX_NUMBER_DIGITS = 15;

export const wordsOf = (text: string): Iterable<string> => {
  const words = new Set<string>();
  for (const { word } of wordsIn(text)) words.add(word);
  return words;
};

/** The words of a text. A compound also counts from each part on, a number from each digit on. */
export function* wordsIn(text: string): Generator<WordAt> {
  for (const parts of compoundsIn(text)) {
    yield* parts;
    if (parts.length > 1 && !isUnspaced(parts)) yield* joined(parts);
  }
  for (const { index, 0: written } of text.matchAll(NUMBER)) {
    const digits = digitsOf(written);
    if (digits.length > MAX_NUMBER_DIGITS) continue;
    for (let from = 0; from <= digits.length - MIN_END_DIGITS; from += 1)
      yield { word: digits.slice(from), start: index, end: index + written.length };
  }
}

/** The compounds of a text, each as the list of its parts. */
export function* compoundsIn(text: string): Generator<readonly WordAt[]> {
  const isAscii = ASCII.test(text);
  const mayBeUnspaced = !isAscii && UNSPACED.test(text);
  for (const { index, 0: compound } of text.matchAll(isAscii ? ASCII_COMPOUND : COMPOUND)) {
    const parts: WordAt[] = [];
    for (const [at, part] of partsOf(compound, mayBeUnspaced)) {
      const word = foldWord(part).slice(0, MAX_WORD_CHARACTERS);
      if (word !== '') parts.push({ word, start: index + at, end: index + at + part.length });
    }
    yield parts;
  }
}

/** The parts of a compound, and where each begins. Most compounds are one word. */
function partsOf(compound: string, mayBeUnspaced: boolean): readonly (readonly [number, string])[] {
  if (!mayBeUnspaced && !SIGN.test(compound)) return [[0, compound]];
  const found = compound.matchAll(mayBeUnspaced ? UNSPACED_PARTS : PART);
  return Array.from(found, ({ index, 0: part }) => [index, part]);
}

/** Whether a compound is, at least in part, in a script without spaces between words. */
export const isUnspaced = (parts: readonly WordAt[]): boolean =>
  parts.some(({ word }) => UNSPACED.test(word));

/** `maria@example.com`: mariaexamplecom, examplecom. */
function* joined(parts: readonly WordAt[]): Generator<WordAt> {
  for (let from = 0; from < parts.length - 1; from += 1) {
    const rest = parts.slice(from, from + MAX_WORD_CHARACTERS);
    yield { word: joinWords(rest), start: parts[from]!.start, end: rest.at(-1)!.end };
  }
}

export function joinWords(parts: readonly WordAt[]): string {
  let joined = '';
  for (const { word } of parts) {
    // Cutting the whole joined text instead would keep all of it in memory.
    joined += word.slice(0, MAX_WORD_CHARACTERS - joined.length);
    if (joined.length >= MAX_WORD_CHARACTERS) break;
  }
  return joined;
}

/** Folding turns some characters into signs, which are removed: `½` becomes `1⁄2`, then `12`. */
const foldWord = (part: string): string =>
  ASCII.test(part) ? part.toLowerCase() : foldForSearch(part).replace(/[^\p{L}\p{N}]+/gu, '');

/** The digits of a phone number without leading zeros. */
export const digitsOf = (number: string): string => number.replace(/\D/g, '').replace(/^0+/, '');
