import type { Language } from '../agentModel.ts';
import { stem, wordsOf } from '../../platform/reading/words.ts';
import { datesIn, type DatesAndTimes, type Found } from '../../platform/reading/dates.ts';

export const EMAIL_PATTERN =
  /(?<![\p{L}\p{N}.!#$%&'*+/=?^_`{|}~•-])[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}(?![\p{L}\p{N}•])/giu;
export const URL_PATTERN = /(?<![\p{L}\p{N}])https?:\/\/[^\s<>"']{1,2000}/giu;

/** The customer's own e-mail and phone, masked. The service puts in the real one for the call. */
export const MASKED_EMAIL =
  /(?<![\p{L}\p{N}•@])[^\s@•,;:<>()"']?•{1,8}@[^\s@•,;:<>()"']?•{1,8}(?:\.[\p{L}\p{N}-]{1,63})?(?![\p{L}\p{N}•@])/gu;
export const MASKED_PHONE = /(?<![\p{L}\p{N}•+])\+\d{0,3}•{1,20}(?:\d{2})?(?![\p{L}\p{N}•])/gu;

const MAX_MATCHES = 50;
const NEARBY_CHARACTERS = 48;

/** What all texts of a request share. */
interface Whole {
  /** Where, in all texts together, the values begin that arguments have taken. */
  readonly taken: Set<number>;
  readonly now: Date;
}

/** A text of the customer. */
export class SourceText {
  readonly text: string;
  readonly language: Language;
  readonly #whole: Whole;
  readonly #start: number;
  #dates: DatesAndTimes | undefined;

  /** @param start where the text begins in the whole */
  constructor(text: string, language: Language, whole: Whole, start: number) {
    this.text = text.normalize('NFC');
    this.language = language;
    this.#whole = whole;
    this.#start = start;
  }

  take({ at }: Found<unknown>): void {
    this.#whole.taken.add(this.#start + at);
  }

  /** Whether an argument has taken this value, from this text or from all together. */
  isTaken({ at }: Found<unknown>): boolean {
    return this.#whole.taken.has(this.#start + at);
  }

  get dates(): DatesAndTimes {
    return (this.#dates ??= datesIn(this.text, this.language, this.#whole.now));
  }

  /** The text with dates and addresses blanked out: their digits are neither numbers nor codes. */
  get blanked(): string {
    const { dates, times, lengths, misread } = this.dates;
    const withoutDates = [...dates, ...times, ...lengths, ...misread].reduce(
      (rest, { at, length }) => rest.slice(0, at) + ' '.repeat(length) + rest.slice(at + length),
      this.text,
    );
    return [URL_PATTERN, EMAIL_PATTERN, MASKED_EMAIL, MASKED_PHONE].reduce(
      blankMatches,
      withoutDates,
    );
  }

  /** Whether it is a length of time and nothing else: "3 days". */
  get isLengthOfTime(): boolean {
    const start = this.text.length - this.text.trimStart().length;
    const end = this.text.trimEnd().replace(/[.!]+$/, '').length;
    return this.dates.lengths.some(({ at, length }) => at === start && at + length === end);
  }

  find(pattern: RegExp, text = this.text): readonly Found<string>[] {
    return [...text.matchAll(pattern)]
      .slice(0, MAX_MATCHES)
      .map((match) => ({ value: match[0], at: match.index, length: match[0].length }));
  }

  /** The match with a word of `name` right after it ("4 people"), else before it ("people: 4"). */
  nearName<Item extends Found<unknown>>(
    found: readonly Item[],
    name: readonly string[],
  ): Item | undefined {
    const isName = (word: string) => name.includes(stem(word));
    const wordAfter = ({ at, length }: Item) => {
      const after = this.text.slice(at + length, at + length + NEARBY_CHARACTERS);
      return wordsOf(after.split(/[,;.!?\n]/)[0]!).slice(0, 1);
    };
    const wordsBefore = ({ at }: Item) => {
      const before = this.text.slice(Math.max(0, at - NEARBY_CHARACTERS), at);
      return wordsOf(before.split(/[,;!?\n]|\d/).at(-1)!).slice(-3);
    };
    return (
      found.find((item) => wordAfter(item).some(isName)) ??
      found.find((item) => wordsBefore(item).some(isName))
    );
  }
}

export const blankMatches = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (match) => ' '.repeat(match.length));
