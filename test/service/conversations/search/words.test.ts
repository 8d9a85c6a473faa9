import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { excerptOf } from '../../../../service/src/conversations/search/excerpt.ts';
import {
  findMarks,
  matchesQuery,
  readWordQuery,
} from '../../../../service/src/conversations/search/wordQuery.ts';
import { wordsOf } from '../../../../service/src/conversations/search/words.ts';
import { cpuMsOf } from '../../../helpers/cpuTime.ts';

const finds = (typed: string, text: string) => {
  const query = readWordQuery(typed);
  return query.length > 0 && matchesQuery(query, wordsOf(text));
};

describe('the words of a search', () => {
  const PHONE = 'Call me at +54 9 11 5555-0134, please';
  const TWO_PHONES = '11 5555 0134\n11 5555 0135';
  const LOCAL = 'my number is (011) 5555.0134';
  const ORDER = 'Where is order #A-1042?';
  const EMAIL = 'Write to Maria.Lopez@Example.com!';

  it.each<[typed: string, text: string, isFound: boolean]>([
    ['where order', ORDER, true],
    ['order whe', ORDER, true],
    ['whe order', ORDER, false],
    ['where invoice', ORDER, false],
    ['rder', ORDER, false],
    ['A-1042', ORDER, true],
    ['a1042', ORDER, true],
    ['#a-10', ORDER, true],
    ['1042', ORDER, true],
    ['A-1043', ORDER, false],
    ['maria.lopez@example.com', EMAIL, true],
    ['LOPEZ@example', EMAIL, true],
    ['example.com write', EMAIL, true],
    ['maria.lopez@example.org', EMAIL, false],
    ['+54 9 11 5555 0134', PHONE, true],
    ['0054 9 11 5555-0134', PHONE, true],
    ['5491155550134', PHONE, true],
    ['011 5555-0134', PHONE, true],
    ['0054 9 11 5555-0134.', PHONE, true],
    ['(011 5555-0134)?', PHONE, true],
    ['call (11) 5555.0134', PHONE, true],
    ['5555 0134', PHONE, true],
    ['0134', PHONE, true],
    ['+54 9', PHONE, true],
    ['+54 9 11', PHONE, true],
    ['+55 9 11', PHONE, false],
    ['5555 0135', PHONE, false],
    ['11 5555 0134', TWO_PHONES, true],
    ['11 5555 0135', TWO_PHONES, true],
    ['+34 612 345 678', '612 345 678\r\n24 boxes', true],
    ['123 456 7\n8901', 'from 123 456 7\n8901 on', true],
    ['+54 9 11 5555 0134', LOCAL, true],
    ['muller', 'Herr Müller', true],
    ['MÜLLER', 'herr muller', true],
    ['l’été', "L'ete arrive", true],
    ['订单', '我的订单在哪里', true],
    ['单订', '我的单品', false],
    ['заказ', 'Где мой ЗАКАЗ?', true],
    ['2026-11-23', 'on 2026-11-23 at 10:30', true],
    ['10:30', 'on 2026-11-23 at 10:30', true],
    ['!?', ORDER, false],
    ['0000000', ORDER, false],
    ['0000000', 'tracking 0000000', true],
    ['4111111111111111', 'card 4111 1111 1111 1111', false],
    ['1234 5678 1234 5678', 'voucher 1234 5678 1234 5678', true],
  ])('%s in “%s”: %s', (typed, text, isFound) => {
    expect(finds(typed, text)).toBe(isFound);
  });

  it('marks what was found, as a whole and once', () => {
    const marked = (typed: string, text: string) =>
      findMarks(readWordQuery(typed), text).map(([start, end]) => text.slice(start, end));
    expect(marked('a-1042 order', ORDER)).toEqual(['order', 'A-1042']);
    expect(marked('5555 0134 call', PHONE)).toEqual(['Call', '54 9 11 5555-0134']);
    expect(marked('lopez@exam', EMAIL)).toEqual(['Lopez@Example.com']);
    expect(marked('订单', '我的订单在哪里')).toEqual(['订单']);
  });

  it('finds every text when the whole of it is searched for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const query = readWordQuery(text);
        if (query.length > 0) expect(matchesQuery(query, wordsOf(text))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('takes time that grows with the text alone', () => {
    for (const text of ['1 '.repeat(8192), 'a.'.repeat(8192), '单'.repeat(16_384)]) {
      const cpuMs = cpuMsOf(() => {
        wordsOf(text);
        excerptOf(readWordQuery(text.slice(0, 200)), text);
      });
      expect(cpuMs).toBeLessThan(1000);
    }
  });
});

describe('an excerpt', () => {
  const written = (typed: string, text: string) =>
    excerptOf(readWordQuery(typed), text)
      .map((part) => (part.isMatch ? `[${part.text}]` : part.text))
      .join('');

  it('is the sentence with most of what was searched for, in one line', () => {
    expect(written('refund', 'Hello!\nI want a  refund. Thanks.')).toBe('I want a [refund]. ');
    expect(written('my order', 'My name is Ana. My  order is late.')).toBe('[My] [order] is late.');
  });

  it('is cut around what was found', () => {
    const text = `${'so '.repeat(100)}many refunds ${'and '.repeat(100)}`;
    const cut = written('refund', text);
    expect(cut).toMatch(/^…(so )+many \[refunds\] (and )+…$/);
    expect(cut.length).toBeLessThan(220);
  });

  it('is the beginning where nothing was found', () => {
    expect(written('nothing', 'Hello! How are you?')).toBe('Hello! ');
    expect(written('nothing', '')).toBe('');
  });
});
