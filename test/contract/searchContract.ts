import { describe, expect, it } from '@jest/globals';
import type { WordSearch } from '../../service/src/store/store.ts';
import type { ContractStore, Thing } from './schema.ts';
import { rollBack } from './rollBack.ts';
import { put, thing } from './schema.ts';

const exact = (word: string) => [{ word, isPrefix: false }];
const beginning = (word: string) => [{ word, isPrefix: true }];

/** What `search` promises: all words, the highest id first, pages, and sight of earlier writes. */
export const describeSearch = (
  current: () => ContractStore,
  reopen: () => Promise<ContractStore>,
): void => {
  describe('search', () => {
    const ids = (things: readonly Thing[]) => things.map(({ id }) => id).join('');
    const search = async (allOf: WordSearch['allOf'], rest: Partial<WordSearch> = {}) =>
      ids(
        await current().transaction((tx) =>
          tx.things.search({ within: 'g', allOf, limit: 9, ...rest }),
        ),
      );
    const said = (id: string, note: string, group = 'g') => thing(id, { note, group });

    it('finds documents with all words, the highest id first', async () => {
      await put(
        current(),
        said('c', 'red apple'),
        said('a', 'red pear'),
        said('b', 'green apple red'),
        said('x', 'red apple', 'other'),
      );
      expect(await search([exact('red')])).toBe('cba');
      expect(await search([exact('red'), exact('apple')])).toBe('cb');
      expect(await search([exact('apple'), exact('pear')])).toBe('');
      expect(await search([exact('app')])).toBe('');
      expect(await search([exact('red')], { within: 'other' })).toBe('x');
      expect(await search([exact('red')], { within: 'nobody' })).toBe('');
    });

    it('finds words by their beginning, and any word of a list', async () => {
      await put(
        current(),
        said('a', 'order 1042'),
        said('b', 'order 1043 1042'),
        said('c', 'orders 99'),
        said('d', "it's 1042"),
      );
      expect(await search([beginning('order')])).toBe('cba');
      expect(await search([beginning('104'), exact('order')])).toBe('ba');
      expect(await search([[...exact('99'), ...exact('1043')], beginning('ord')])).toBe('cb');
      expect(await search([beginning("it'")])).toBe('d');
      expect(await search([beginning('x')])).toBe('');
    });

    it('continues after an id, and stops at the limit', async () => {
      await put(current(), ...[...'fbdace'].map((id) => said(id, 'word')));
      expect(await search([exact('word')], { limit: 2 })).toBe('fe');
      expect(await search([exact('word')], { limit: 2, before: 'e' })).toBe('dc');
      expect(await search([beginning('w')], { limit: 9, before: 'b' })).toBe('a');
      expect(await search([exact('word')], { before: 'a' })).toBe('');
    });

    it('follows changes and removals, within the transaction and after it', async () => {
      await put(current(), said('a', 'old word'), said('b', 'old'), said('c', 'moved'));
      await current().transaction(async (tx) => {
        await tx.things.put(said('a', 'new word'));
        await tx.things.delete('b');
        await tx.things.put(said('c', 'moved', 'other'));
        await tx.things.put(said('d', 'new'));
        const found = await tx.things.search({ within: 'g', allOf: [exact('new')], limit: 9 });
        expect(ids(found)).toBe('da');
      });
      expect(await search([exact('old')])).toBe('');
      expect(await search([exact('new')])).toBe('da');
      expect(await search([exact('word')])).toBe('a');
      expect(await search([exact('moved')])).toBe('');
      expect(await search([exact('moved')], { within: 'other' })).toBe('c');
    });

    it('forgets what a failed transaction wrote', async () => {
      await put(current(), said('a', 'kept'));
      await rollBack(current(), async (tx) => {
        await tx.things.put(said('a', 'lost'));
        await tx.things.put(said('b', 'lost'));
      });
      expect(await search([exact('lost')])).toBe('');
      expect(await search([exact('kept')])).toBe('a');
    });

    it('gives documents as they are stored, ready to be changed and put back', async () => {
      await put(current(), said('a', 'word'));
      await current().transaction(async (tx) => {
        const [found] = await tx.things.search({ within: 'g', allOf: [exact('word')], limit: 1 });
        expect(found).toEqual(said('a', 'word'));
        await tx.things.put({ ...found!, note: 'changed' });
      });
      expect(await search([exact('changed')])).toBe('a');
    });

    it('finds documents after a restart, even while the words are still being read', async () => {
      const many = Array.from({ length: 1000 }, (_, i) =>
        said(String(i).padStart(4, '0'), `word n${i}`),
      );
      await put(current(), ...many);
      const store = await reopen();
      const searching = store.transaction((tx) =>
        tx.things.search({ within: 'g', allOf: [exact('n0')], limit: 9 }),
      );
      await store.transaction(async (tx) => {
        await tx.things.delete('0999');
        await tx.things.put(said('0998', 'another'));
        await tx.things.put(said('1000', 'word'));
      });
      expect(ids(await searching)).toBe('0000');
      const newest = await store.transaction((tx) =>
        tx.things.search({ within: 'g', allOf: [exact('word')], limit: 3 }),
      );
      expect(newest.map(({ id }) => id)).toEqual(['1000', '0997', '0996']);
    });

    it('refuses a search where the schema names no words', async () => {
      const searching = current().transaction((tx) =>
        tx.others.search({ within: 'g', allOf: [exact('x')], limit: 1 }),
      );
      await expect(searching).rejects.toThrow('declare its words in the schema');
    });
  });
};
