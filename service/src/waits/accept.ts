import { normalizeEmail } from '../platform/contactDetails.ts';
import { datesIn, type Found } from '../platform/reading/dates.ts';
import { detectLanguage } from '../platform/reading/detectLanguage.ts';
import type { Language } from '../platform/reading/language.ts';
import { numbersIn, zeroOrOne } from '../platform/reading/numbers.ts';
import { hasWordsOf, namesChoice, onlyOne, readChoice } from './readChoice.ts';
import { isDoubted, isQuestion, refuses, takesBack } from './refusal.ts';

/** What counts as an answer to a question, and how an answer is read. */

export const ACCEPT_TYPES = ['any', 'choice', 'email', 'number', 'date'] as const;
type AcceptType = (typeof ACCEPT_TYPES)[number];

export const MAX_CHOICES = 10;
export const MAX_CHOICE_CHARACTERS = 100;

export interface Accept {
  readonly type: AcceptType;
  /** For `choice`; empty for every other type. */
  readonly choices: readonly string[];
}

/**
 * A number as a number, a date as `2026-12-31`, an e-mail in lower case, a choice as it was
 * offered.
 */
export type AnswerValue = string | number;

interface ReadingContext {
  /** The language of the question and its answer; several when the language is not known. */
  readonly languages: readonly Language[];
  readonly now: Date;
}

/**
 * The language in which a question and its answer are written.
 * @param languages the workspace's, the preferred one first
 * @returns all of the workspace's languages when the texts do not show which it is
 */
export function languagesOf(
  texts: readonly string[],
  languages: readonly Language[],
): readonly Language[] {
  // When the texts show nothing, the first language of the list is detected.
  const found = detectLanguage(texts, languages);
  return found === detectLanguage(texts, languages.toReversed()) ? [found] : languages;
}

/** Longer texts answer no question for an e-mail, a number, a date or a choice. */
const MAX_READ_CHARACTERS = 1000;

/**
 * Reads an answer from what the customer wrote. It is what all texts say together. When that is no
 * answer, or a later text names another one ("Tuesday", then "the second" for the second choice), it
 * is the last text that is an answer by itself. What comes after that text may neither name anything
 * else nor take it back in a few words ("actually no").
 * @param texts in the order in which they were written
 * @returns null when there is no answer, or it could mean several things
 */
export function readAnswer(
  accept: Accept,
  texts: readonly string[],
  context: ReadingContext,
): AnswerValue | null {
  const all = texts.join('\n');
  if (accept.type === 'any') return all;
  const reader = READERS[accept.type];
  const read = (text: string) =>
    text.length > MAX_READ_CHARACTERS ? NOTHING : reader(text, accept, context);
  const together = read(all).value;
  const readings = texts.map((text) => ({ text, ...read(text) }));
  const newest = readings.findLast(({ isNamed }) => isNamed);
  // "2" may mean "Room 2" or the second choice. After "Room 2", it only repeats words of that.
  const isRepeated = newest?.value === null && hasWordsOf(newest.text, String(together));
  // An earlier text alone is what all say together, and the newest one names something else.
  const isCorrected =
    newest?.value !== together && !isRepeated && readings.some(({ value }) => value === together);
  if (together !== null && !isCorrected) return together;
  let isTakenBack = false;
  for (const { text, value, isNamed } of readings.toReversed()) {
    // "No" is not taken back by "not now".
    if (isNamed) return isTakenBack && !refuses(String(value), context.languages) ? null : value;
    isTakenBack ||= takesBack(text, context.languages);
  }
  return null;
}

interface Reading {
  /** Null when there is none, or it could be several. */
  readonly value: AnswerValue | null;
  /** Whether the text names something, even if it refuses it. */
  readonly isNamed: boolean;
}

const NOTHING: Reading = { value: null, isNamed: false };

type Read = (text: string, accept: Accept, context: ReadingContext) => Reading;

const SIGNS = ".!#$%&'*+/=?^_`{|}~-";
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/**
 * Signs in front of an address are not read as its beginning: `'a@x.com'`, `*a@x.com*`. A `_` is
 * such a sign only where another `_` follows the address: `_a@x.com_`.
 */
const EMAIL = new RegExp(
  `(?<![\\p{L}\\p{N}•][${SIGNS}]*)(?!_[^@\\s]{0,64}@[a-z0-9.-]+_)[a-z0-9_][a-z0-9${SIGNS}]{0,63}` +
    `@${LABEL}(?:\\.${LABEL}){1,8}(?![\\p{L}\\p{N}•])`,
  'giu',
);

const readEmail: Read = (written, _accept, context) => {
  const text = written.normalize('NFKC');
  const found = [...text.matchAll(EMAIL)].map(({ 0: address, index: at }) => ({
    value: normalizeEmail(address),
    at,
    length: address.length,
  }));
  return onlyPlain(text, found, context);
};

/** `No. 5`, `no: 5`, `no is 5`: the number follows, and nothing is refused. */
const NUMBER_SIGN = /(?<!\p{L})no\b\.?(?=[\s:]*(?:is\s+)?\d)/giu;
/** `#5` */
const HASH = /(?<![\p{L}\p{N}])#(?=\d)/gu;

/** `1.500` can be 1500 or 1.5 if the language is not known, and is then no answer. */
const readNumber: Read = (written, _accept, context) => {
  const text = written.replace(HASH, ' ');
  const alone = zeroOrOne(text, context.languages);
  if (alone !== null) return { value: isQuestion(text) ? null : alone, isNamed: true };
  const wholeNumbers = false;
  const found = context.languages.flatMap((each) => numbersIn(text, each, wholeNumbers));
  const plain = text.replace(NUMBER_SIGN, (sign) => ' '.repeat(sign.length));
  const reading = onlyPlain(plain, found, context);
  return Number.isNaN(reading.value) ? { ...reading, value: null } : reading;
};

/** `03/04`: in English, it can be 3 April or 4 March. */
const DAY_AND_MONTH = /(?<![\d/.-])(\d{1,2})[/.-](\d{1,2})(?!\d)/;

const readDate: Read = (text, _accept, context) => {
  const { languages, now } = context;
  const [, first = 0, second = 0] = (DAY_AND_MONTH.exec(text) ?? []).map(Number);
  const isAmbiguous = first !== second && Math.max(first, second) <= 12;
  if (isAmbiguous && languages.includes('en')) return { value: null, isNamed: true };
  const found = languages.flatMap((each) => datesIn(text, each, now).dates);
  return onlyPlain(text, found, context);
};

/** The only value that a text names; null when it names several, asks about one or refuses it. */
const onlyPlain = (
  text: string,
  found: readonly Found<AnswerValue>[],
  { languages }: ReadingContext,
): Reading => ({
  value: isDoubted(text, found, languages) ? null : onlyOne(found.map(({ value }) => value)),
  isNamed: found.length > 0,
});

const READERS: Readonly<Record<Exclude<AcceptType, 'any'>, Read>> = {
  choice: (text, { choices }, { languages }) => {
    const value = readChoice(text, choices, languages);
    return { value, isNamed: value !== null || namesChoice(text, choices) };
  },
  email: readEmail,
  number: readNumber,
  date: readDate,
};
