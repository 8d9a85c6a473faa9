import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ContractStore, Thing } from './schema.ts';
import { put, thing } from './schema.ts';
import type { Query } from '../../service/src/store/store.ts';

/** What `find` promises: equality, order, pages. */
export const describeQueries = (current: () => ContractStore): void => {
  describe('find', () => {
    const ids = (things: readonly Thing[]) => things.map(({ id }) => id).join('');
    const find = async (query: Query<Thing>) =>
      ids(await current().transaction((tx) => tx.things.find(query)));
    const walk = async (query: Query<Thing>, field: 'id' | 'at' | 'number') => {
      let found = '';
      for (let after: Query<Thing>['after']; ; ) {
        const page = await current().transaction((tx) => tx.things.find({ ...query, after }));
        if (page.length === 0) return found;
        found += ids(page);
        const last = page.at(-1)!;
        after = { value: last[field], id: last.id };
      }
    };

    beforeEach(() =>
      put(
        current(),
        thing('b', { at: '2026-01-03', number: 2, kind: 'x' }),
        thing('a', { at: '2026-01-02', number: 10, kind: 'x' }),
        thing('d', { at: '2026-01-02', number: 2, kind: 'y' }),
        thing('c', { at: '2026-01-01', number: -1, kind: 'x' }),
        thing('z', { group: 'other', number: 5, code: 'only' }),
      ),
    );

    it('finds by equality, ordered by id when nothing else is said', async () => {
      expect(await find({ where: { group: 'g' }, limit: 9 })).toBe('abcd');
      expect(await find({ where: { group: 'other' }, limit: 9 })).toBe('z');
      expect(await find({ where: { group: 'nobody' }, limit: 9 })).toBe('');
      expect(await find({ where: {}, direction: 'desc', limit: 9 })).toBe('zdcba');
    });

    it('orders by a field, then by id, in both directions', async () => {
      expect(await find({ where: { group: 'g' }, orderBy: 'at', limit: 9 })).toBe('cadb');
      expect(
        await find({ where: { group: 'g' }, orderBy: 'at', direction: 'desc', limit: 9 }),
      ).toBe('bdac');
    });

    it('orders numbers as numbers', async () => {
      expect(await find({ where: {}, orderBy: 'number', limit: 9 })).toBe('cbdza');
    });

    it('filters by fields that the index in use does not have', async () => {
      expect(await find({ where: { group: 'g', number: 2 }, limit: 9 })).toBe('bd');
      expect(
        await find({ where: { group: 'g', kind: 'x', number: 2 }, orderBy: 'at', limit: 9 }),
      ).toBe('b');
    });

    it('finds by a unique value, and all documents that hold null', async () => {
      expect(await find({ where: { code: 'only' }, limit: 9 })).toBe('z');
      expect(await find({ where: { code: null }, limit: 9 })).toBe('abcd');
    });

    it('stops at the limit, after filtering', async () => {
      expect(await find({ where: { group: 'g' }, limit: 2 })).toBe('ab');
      expect(await find({ where: { group: 'g', kind: 'y' }, limit: 1 })).toBe('d');
      expect(await find({ where: { group: 'g' }, limit: 0 })).toBe('');
    });

    it('walks in pages without missing or repeating where values are equal', async () => {
      for (const limit of [1, 2, 3]) {
        expect(await walk({ where: { group: 'g' }, orderBy: 'at', limit }, 'at')).toBe('cadb');
        expect(
          await walk({ where: { group: 'g' }, orderBy: 'at', direction: 'desc', limit }, 'at'),
        ).toBe('bdac');
        expect(await walk({ where: {}, orderBy: 'number', limit }, 'number')).toBe('cbdza');
        expect(await walk({ where: {}, direction: 'desc', limit }, 'id')).toBe('zdcba');
      }
    });

    it('continues behind a position whose document is gone', async () => {
      await current().transaction((tx) => tx.things.delete('a'));
      expect(
        await find({
          where: { group: 'g' },
          orderBy: 'at',
          after: { value: '2026-01-02', id: 'a' },
          limit: 9,
        }),
      ).toBe('db');
    });

    it('continues behind a value as a whole when the position has no id', async () => {
      const after = { value: '2026-01-02' };
      expect(await find({ where: { group: 'g' }, orderBy: 'at', after, limit: 9 })).toBe('b');
      expect(
        await find({ where: { group: 'g' }, orderBy: 'at', direction: 'desc', after, limit: 9 }),
      ).toBe('c');
    });

    it('continues in a group that has one document', async () => {
      const other = { where: { group: 'other' }, limit: 9 } as const;
      expect(await find({ ...other, after: { value: 'y' } })).toBe('z');
      expect(await find({ ...other, after: { value: 'z' } })).toBe('');
      expect(await find({ ...other, direction: 'desc', after: { value: 'z' } })).toBe('');
    });

    it('finds a changed document only in its new place', async () => {
      await put(current(), thing('c', { group: 'other', at: '2026-02-01' }));
      expect(await find({ where: { group: 'g' }, orderBy: 'at', limit: 9 })).toBe('adb');
      expect(await find({ where: { group: 'other' }, orderBy: 'at', limit: 9 })).toBe('zc');
    });

    it('calls a query without an index a programming error', async () => {
      await expect(find({ where: { kind: 'x' }, orderBy: 'at', limit: 9 })).rejects.toThrow(
        /index/,
      );
      await expect(find({ where: { group: 'g' }, orderBy: 'kind', limit: 9 })).rejects.toThrow(
        /index/,
      );
    });

    it('refuses to filter by a field that no index has', async () => {
      const where = { group: 'g', note: 'x' };
      await expect(find({ where, limit: 9 })).rejects.toThrow(/note is in no index/);
    });

    it('refuses an undefined condition rather than finding everything', async () => {
      await expect(find({ where: { group: undefined }, limit: 9 })).rejects.toThrow(
        /group is undefined/,
      );
    });
  });
};
