import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WordIndex } from '../../../service/src/store/lowdb/wordIndex.ts';
import type { SearchedWord } from '../../../service/src/store/store.ts';

interface Text {
  readonly id: string;
  readonly group: string;
  readonly words: readonly string[];
}

// Many words with the same beginning, in few documents and in many.
const word = fc.oneof(
  fc.constantFrom('a', 'b', 'common'),
  fc.integer({ min: 0, max: 30 }).map((n) => `co${n}`),
);
const texts = fc.record<Text>({
  id: fc.integer({ min: 0, max: 60 }).map((n) => `id${String(n).padStart(2, '0')}`),
  group: fc.constantFrom('g', 'g', 'g', 'h'),
  words: fc.array(word, { maxLength: 6 }),
});
const removals = texts.map(({ id }) => ({ id, isRemoved: true }));
const FEW = { minLength: 1, maxLength: 3 };
const searched = fc.record<SearchedWord>({
  word: fc.oneof(word, fc.constantFrom('c', 'co', 'co1')),
  isPrefix: fc.boolean(),
});

describe('the index of words', () => {
  it('finds what a full scan finds, whatever is written and removed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(texts, removals), { maxLength: 150 }),
        fc.array(fc.array(searched, FEW), FEW),
        fc.option(fc.constantFrom('id10', 'id30', 'id59'), { nil: undefined }),
        (steps, allOf, before) => {
          const stored = new Map<string, Text>();
          const index = new WordIndex(
            { within: 'group' as never, of: (text) => (text as Text).words },
            (id) => stored.get(id)!,
          );
          for (const step of steps) {
            const former = stored.get(step.id);
            if ('isRemoved' in step) {
              stored.delete(step.id);
              if (former) index.remove(former);
            } else {
              stored.set(step.id, step);
              if (former) index.replace(former, step);
              else index.add(step);
            }
          }
          const has = ({ words }: Text, any: readonly SearchedWord[]) =>
            any.some((each) =>
              words.some((one) => (each.isPrefix ? one.startsWith(each.word) : one === each.word)),
            );
          const wanted = [...stored.values()]
            .filter(({ group, id }) => group === 'g' && (before === undefined || id < before))
            .filter((text) => allOf.every((any) => has(text, any)))
            .map(({ id }) => id)
            .sort()
            .reverse();
          const found = index.find({ within: 'g', allOf, limit: 99, ...(before && { before }) });
          expect([...found]).toEqual(wanted);
        },
      ),
      { numRuns: 500 },
    );
  });
});
