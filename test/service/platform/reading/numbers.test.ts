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
