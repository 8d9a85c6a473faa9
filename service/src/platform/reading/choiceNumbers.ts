import { numberOfWord } from './numbers.ts';

/** `Two people` → `2 people`. Inside a choice, `dos` may be Portuguese and no number. */
export const withDigits = (choice: string): string =>
  choice.replace(/\p{L}+/gu, (word, at: number) =>
    at > 0 && /^dos$/i.test(word) ? word : String(numberOfWord(word) ?? word),
  );

const NUMBER = /(?<!\p{Nd}[.,:/]?)\p{Nd}+(?![.,/]?\p{Nd})/gu;

/**
 * The numbers by which a customer may call a choice: 2 for `Room 2` and for `Two people`. What is in
 * brackets only says more about the choice: none for `Express (1 day)`. A part of an amount is no
 * number: none for `$2,500`. A time has the number of its hour: 12 for `12:02`.
 */
export function numbersOf(choice: string): readonly number[] {
  const plain = withDigits(choice).replace(/\([^()]*\)/gu, ' ');
  return (plain.match(NUMBER) ?? []).map((digits) => Number(digits.normalize('NFKC')));
}

/** Whether numbers in front of the choices would leave open what a number means: `2. Room 1`. */
export const numbersMislead = (choices: readonly string[]): boolean =>
  choices.some(
    (choice, index) =>
      /^\s*\p{N}/u.test(choice) ||
      numbersOf(choice).some((each) => each !== index + 1 && choices[each - 1] !== undefined),
  );
