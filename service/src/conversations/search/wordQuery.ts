import type { SearchedWord } from '../../store/store.ts';
import {
  compoundsIn,
  digitsOf,
  isUnspaced,
  joinWords,
  MAX_WORD_CHARACTERS,
  wordsIn,
} from './words.ts';

/** A text matches when it has at least one word of each list. No lists: no word was typed. */
export type WordQuery = readonly (readonly SearchedWord[])[];

/** A complete number of 7 to 15 digits in one line, as people write a phone number. */
const NUMBER =
  /(?<!\S)\(?\+?\(?(?<!\d[\s().\-/]{1,3})\d(?:(?:(?![\r\n])[\s().\-/]){0,3}\d){6,14}[.,;:!?)]*(?!\S|[\s().\-/]{1,3}\d)/g;
/** The beginning of a number with its country code: `+34 612`. */
const NUMBER_BEGINNING =
  /(?<!\S)\+\d(?:(?:(?![\r\n])[\s().\-/]){0,3}\d){2,14}[.,;:!?)]*(?!\S|[\s().\-/]{1,3}\d)/g;
/** Two numbers are the same when they end in the same 8 digits, with or without country code. */
const SUBSCRIBER_DIGITS = 8;
/** Later words are ignored: the first ones are enough to find something. */
const MAX_WORDS = 12;
/** Too many words begin with any one letter. */
const MIN_PREFIX_CHARACTERS = 2;

/** Reads what was typed. The last word may be incomplete. */
export function readWordQuery(typed: string): WordQuery {
  const lists: SearchedWord[][] = [];
  const take = (number: string) => {
    const digits = digitsOf(number);
    if (digits === '') return number; // only zeros: an ordinary word
    lists.push(numberQuery(digits));
    return ' ';
  };
  const rest = typed.replace(NUMBER, take).replace(NUMBER_BEGINNING, take);
  const compounds = [...compoundsIn(rest)].flatMap((parts) =>
    isUnspaced(parts) ? parts.map((part) => [part]) : [parts],
  );
  // A blank at the end, which may stand for a number, says that the last word is complete.
  const isLastComplete = /\s$/.test(rest);
  for (const [at, parts] of compounds.entries()) {
    const isLast = at === compounds.length - 1 && !isLastComplete;
    const word = joinWords(parts);
    // A compound also finds longer ones that begin with it. A word of full length may be cut.
    const isPrefix =
      (isLast && word.length >= MIN_PREFIX_CHARACTERS) ||
      parts.length > 1 ||
      word.length === MAX_WORD_CHARACTERS;
    if (word !== '') lists.push([{ word, isPrefix }]);
  }
  return lists.slice(0, MAX_WORDS);
}

/** `1155550134` finds `+54 9 11 5555-0134`; the whole number finds `011 5555-0134`. */
const numberQuery = (digits: string): SearchedWord[] => [
  { word: digits, isPrefix: true },
  ...(digits.length > SUBSCRIBER_DIGITS
    ? [{ word: digits.slice(-SUBSCRIBER_DIGITS), isPrefix: false }]
    : []),
];

/** Whether a word of a text is one of those that are searched for. */
const matches = (word: string, searched: readonly SearchedWord[]): boolean =>
  searched.some((each) => (each.isPrefix ? word.startsWith(each.word) : word === each.word));

/** @param words of the text */
export function matchesQuery(query: WordQuery, words: Iterable<string>): boolean {
  const all = [...words];
  return query.every((searched) => all.some((word) => matches(word, searched)));
}

/** The ranges of a text that match a word of the query, in order and without overlaps. */
export function findMarks(query: WordQuery, text: string): readonly (readonly [number, number])[] {
  const found = [...wordsIn(text)]
    .filter(({ word }) => query.some((searched) => matches(word, searched)))
    .sort((a, b) => a.start - b.start);
  const marks: [number, number][] = [];
  for (const { start, end } of found) {
    const last = marks.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else marks.push([start, end]);
  }
  return marks;
}
