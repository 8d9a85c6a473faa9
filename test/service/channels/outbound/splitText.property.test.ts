import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { splitText } from '../../../../service/src/channels/outbound/splitText.ts';
import { cpuMsOf } from '../../../helpers/cpuTime.ts';

const sizeOf = (text: string) => [...text].length;
const withoutSpace = (text: string) => text.replace(/\s+/gu, '');
const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
const charactersOf = (text: string) =>
  [...segmenter.segment(text)].map(({ segment }) => segment).filter((each) => each.trim() !== '');

const FAMILY = '👨‍👩‍👧‍👦';
const FLAG = '🇦🇷';
const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'é', 'ñ', '7', 'Wort', 'palabra', 'שלום', '你好') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(' ', ' ', '  ', '\n', '\r\n', '\n\n', '\n \n', '\t', '\u00a0'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '.',
      '!',
      '?',
      '…',
      '。',
      '."',
      '!)',
      ',',
      '3.14',
      'https://example.com/a?b=1',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(FAMILY, FLAG, '👍🏽', '😀', 'e\u0301', '\u0301', '\u200d', '🇦'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
);
const texts = fc.array(unit, { maxLength: 80 }).map((units) => units.join(''));
const maxima = fc.integer({ min: 1, max: 40 });

describe('splitting a text', () => {
  it('makes pieces that fit, that are not blank, and that together are the text but for white space', () => {
    fc.assert(
      fc.property(texts, maxima, (text, max) => {
        const pieces = splitText(text, max);
        expect(pieces.length).toBeGreaterThan(0);
        expect(pieces.map(withoutSpace).join('')).toBe(withoutSpace(text));
        for (const piece of pieces) {
          expect(sizeOf(piece)).toBeLessThanOrEqual(max);
          if (text.trim() !== '') expect(piece.trim()).not.toBe('');
          if (text.isWellFormed()) expect(piece.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves every character whole that fits into a piece, and every piece as it stands in the text', () => {
    fc.assert(
      fc.property(texts, maxima, (text, max) => {
        const pieces = splitText(text, max);
        let from = 0;
        for (const piece of pieces) {
          const at = text.indexOf(piece, from);
          expect(at).toBeGreaterThanOrEqual(from);
          expect(text.slice(from, at).trim()).toBe('');
          from = at + piece.length;
        }
        expect(text.slice(from).trim()).toBe('');
        if (charactersOf(text).every((each) => sizeOf(each) <= max))
          expect(pieces.flatMap(charactersOf)).toEqual(charactersOf(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves a text that fits as it is, white space and all', () => {
    fc.assert(
      fc.property(texts, (text) =>
        expect(splitText(text, Math.max(1, sizeOf(text)))).toEqual([text]),
      ),
    );
  });

  it.each([
    [
      'a paragraph before a sentence',
      'One two. Three.\n\nFour five. Six seven',
      28,
      ['One two. Three.', 'Four five. Six seven'],
    ],
    [
      'a sentence before a line',
      'One two. Three\nfour five six seven',
      16,
      ['One two.', 'Three\nfour five', 'six seven'],
    ],
    ['a line before a word', 'one two\nthree four five', 13, ['one two', 'three four', 'five']],
    ['a word before a character', 'one two three', 9, ['one two', 'three']],
    ['a character where there is nothing else', 'abcdefgh', 3, ['abc', 'def', 'gh']],
    [
      'quotes and brackets go with their sentence',
      'He said “yes.” Then (no!) more',
      16,
      ['He said “yes.”', 'Then (no!) more'],
    ],
    [
      'no cut inside of a number or an address',
      'pi is 3.14159 or so',
      10,
      ['pi is', '3.14159 or', 'so'],
    ],
    [
      'sentences of a script without spaces',
      '你好吗？我很好。再见了',
      9,
      ['你好吗？我很好。', '再见了'],
    ],
    [
      'a sentence that ends at the very limit',
      'One two. Three four',
      8,
      ['One two.', 'Three', 'four'],
    ],
    [
      'no tiny first piece for the sake of a better place',
      'Hi.\n\nthis is a long line of words here',
      20,
      ['Hi.\n\nthis is a long', 'line of words here'],
    ],
    ['a joined emoji stays whole', `ab${FAMILY}cd`, 8, ['ab', `${FAMILY}c`, 'd']],
    ['flags stay whole', FLAG.repeat(3), 3, [FLAG, FLAG, FLAG]],
    [
      'what is longer than a piece is cut between code points',
      FAMILY,
      3,
      [
        [...FAMILY].slice(0, 3).join(''),
        [...FAMILY].slice(3, 6).join(''),
        [...FAMILY].slice(6).join(''),
      ],
    ],
  ])('cuts well: %s', (_what, text, max, pieces) => {
    expect(splitText(text, max)).toEqual(pieces);
  });

  it('is quick with a long text', () => {
    const text = 'Palabras y más palabras sin fin '.repeat(8000);
    const cpuMs = cpuMsOf(() => {
      expect(splitText(text, 4096).length).toBeGreaterThan(60);
      expect(splitText(' '.repeat(200_000), 4096)).toHaveLength(1);
      expect(splitText(`a${'\n'.repeat(200_000)}b`, 4096)).toEqual(['a', 'b']);
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});
