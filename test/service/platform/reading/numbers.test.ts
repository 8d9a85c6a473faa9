// Numbers as people write them, with the separators of their language.
import { describe, expect, it } from '@jest/globals';
import type { Language } from '../../../../service/src/platform/reading/language.ts';
import { numbersIn } from '../../../../service/src/platform/reading/numbers.ts';

describe('a number that begins with 0', () => {
  it.each<[Language, string]>([
    ['es', '0.500 kg'],
    ['pt', '0.500'],
    ['en', '0,500 kg'],
  ])('has a decimal separator, none for thousands (%s): %s', (language, text) => {
    for (const wholeNumbers of [false, true])
      expect(numbersIn(text, language, wholeNumbers)[0]?.value).toBe(0.5);
  });
});

describe('a word that is a number in another language', () => {
  it.each<[Language, string, readonly number[]]>([
    ['en', 'Once a week', []],
    ['en', 'all 3 at once', [3]],
    ['es', 'ten en cuenta que somos tres', [3]],
    ['pt', 'o total dos convidados é 30', [30]],
    ['pt', 'quero um doce', []],
  ])('is none (%s): %s', (language, text, numbers) => {
    expect(numbersIn(text, language, false).map(({ value }) => value)).toEqual(numbers);
  });

  it.each<[Language, string, number]>([
    ['es', 'once', 11],
    ['es', 'dos', 2],
    ['es', 'doce', 12],
    ['en', 'ten', 10],
  ])('is one in its own language (%s): %s', (language, text, number) => {
    expect(numbersIn(text, language, false)[0]?.value).toBe(number);
  });
});
