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
    ['pt', '30 dos convidados', [30]],
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

describe('a part of a number in words', () => {
  it.each<[Language, string]>([
    ['en', 'twenty two'],
    ['en', 'twenty-two'],
    ['en', 'two hundred'],
    ['en', 'a hundred and five'],
    ['en', '2.5 million'],
    ['en', 'two and a half'],
    ['es', 'treinta y dos'],
    ['es', '5 mil pesos'],
    ['es', 'dos y media'],
    ['pt', 'vinte e dois'],
    ['pt', 'R$ 20 mil'],
    ['pt', 'duas dúzias'],
  ])('is no number (%s): %s', (language, text) => {
    const values = numbersIn(text, language, false).map(({ value }) => value);
    expect(new Set(values)).toEqual(new Set([NaN]));
  });

  it.each<[Language, string, number]>([
    ['en', '2 half portions', 2],
    ['en', '3 media passes', 3],
    ['es', '2 media pensión', 2],
    ['es', '5\nMil gracias', 5],
  ])('is not a number of halves, nor one above another line (%s): %j', (language, text, number) => {
    expect(numbersIn(text, language, false)[0]?.value).toBe(number);
  });

  it('is none across a full stop or a comma', () => {
    const values = numbersIn('We were thirty. Two left, half of us by 5.', 'en', false);
    expect(values.map(({ value }) => value)).toEqual([2, 5]);
  });
});
