import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeChanges } from './changesContract.ts';
import { describeDump } from './dumpContract.ts';
import { describeJobs } from './jobsContract.ts';
import { describeQueries } from './queriesContract.ts';
import { describeRewrite } from './rewriteContract.ts';
import { describeSearch } from './searchContract.ts';
import type { ContractClock, ContractStore, OpenContractStore, Thing } from './schema.ts';
import { rollBack } from './rollBack.ts';
import { all, put, thing } from './schema.ts';
import { StoreUnavailable, UniqueViolation } from '../../service/src/store/store.ts';

/**
 * What every implementation of the store's port promises, whatever database is behind it:
 *
 *     storeContract('lowdb', openInTemporaryFolder);
 *
 * @param options.isMoving false leaves out moving from store to store, which takes three databases
 */
export const storeContract = (
  name: string,
  open: OpenContractStore,
  { isMoving = true }: { readonly isMoving?: boolean } = {},
): void => {
  describe(`store contract: ${name}`, () => {
    let store: ContractStore;
    let clock: ContractClock;
    let reopen: () => Promise<ContractStore>;
    let remove: () => Promise<void>;
    beforeEach(async () => {
      ({ store, clock, reopen, remove } = await open());
    });
    afterEach(() => remove());
    const reopenStore = async () => (store = await reopen());
    const get = (id: string) => store.transaction((tx) => tx.things.get(id));

    describe('transactions', () => {
      it('keeps what was put', async () => {
        await put(store, thing('a', { number: 7 }));
        expect(await get('a')).toEqual(thing('a', { number: 7 }));
        expect(await get('b')).toBeNull();
      });

      it('gives back what the function returns', async () => {
        expect(await store.transaction(async () => 42)).toBe(42);
      });

      it('keeps nothing of a transaction that throws, and passes the error on', async () => {
        await put(store, thing('a'), thing('b'));
        await rollBack(store, async (tx) => {
          await tx.things.put(thing('a', { number: 99 }));
          await tx.things.put(thing('c'));
          await tx.things.delete('b');
          await tx.others.put({ id: 'o' });
        });
        expect(await all(store)).toEqual([thing('a'), thing('b')]);
        expect(await store.transaction((tx) => tx.others.get('o'))).toBeNull();
      });

      it('rolls indexes back too', async () => {
        await put(store, thing('a', { group: 'old', code: 'x' }));
        await rollBack(store, (tx) => tx.things.put(thing('a', { group: 'new', code: 'y' })));
        const inGroup = (group: string) =>
          store.transaction((tx) => tx.things.find({ where: { group }, limit: 9 }));
        expect(await inGroup('old')).toHaveLength(1);
        expect(await inGroup('new')).toHaveLength(0);
        await put(store, thing('b', { code: 'y' }));
        await expect(put(store, thing('c', { code: 'x' }))).rejects.toThrow(UniqueViolation);
      });

      it('lets a transaction read its own writes', async () => {
        await put(store, thing('a', { group: 'g' }));
        await store.transaction(async (tx) => {
          await tx.things.put(thing('b', { group: 'g' }));
          expect(await tx.things.delete('a')).toBe(true);
          expect(await tx.things.delete('a')).toBe(false);
          expect(await tx.things.get('a')).toBeNull();
          expect(await tx.things.get('b')).toEqual(thing('b', { group: 'g' }));
          expect(await tx.things.find({ where: { group: 'g' }, limit: 9 })).toEqual([
            thing('b', { group: 'g' }),
          ]);
        });
      });

      it('loses no update when transactions run at the same time', async () => {
        await put(store, thing('counter', { number: 0 }));
        const increment = () =>
          store.transaction(async (tx) => {
            const counter = (await tx.things.get('counter'))!;
            await Promise.resolve();
            await tx.things.put({ ...counter, number: counter.number + 1 });
          });
        await Promise.all(Array.from({ length: 50 }, increment));
        expect((await get('counter'))?.number).toBe(50);
      });

      it('keeps a limit when transactions that count against it run at the same time', async () => {
        const add = (id: string) =>
          store.transaction(async (tx) => {
            await tx.others.get('workspace');
            const there = await tx.things.find({ where: { group: 'g' }, limit: 9 });
            if (there.length >= 3) throw new Error('full');
            await tx.things.put(thing(id, { group: 'g' }));
          });
        await store.transaction((tx) => tx.others.put({ id: 'workspace' }));
        const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map(add));
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
      });

      it('does not let a document be changed in place', async () => {
        await put(store, thing('a', { number: 1 }));
        const read = (await get('a')) as { number: number };
        try {
          read.number = 2;
        } catch {
          // A frozen document throws; a copy lets it pass. Both keep what is stored.
        }
        expect((await get('a'))?.number).toBe(1);
      });

      it.each([
        ['an undefined id', { ...thing('a'), id: undefined }],
        ['an empty id', thing('')],
        ['a number that JSON does not know', thing('a', { number: Number.NaN })],
        ['a Date', { ...thing('a'), note: new Date(0) }],
      ])('refuses a document with %s', async (_what, document) => {
        await expect(put(store, document as Thing)).rejects.toThrow(TypeError);
        expect(await all(store)).toEqual([]);
      });

      it('keeps any text in ids and values', async () => {
        const ids = ['__proto__', 'constructor', 'ä ☃ 🚲', 'line\nbreak', '\u0000\u001e', '12'];
        await put(store, ...ids.map((id) => thing(id, { code: null, group: id })));
        store = await reopen();
        for (const id of ids) expect(await get(id)).toEqual(thing(id, { code: null, group: id }));
      });
    });

    describe('unique indexes', () => {
      it('refuses a second document with the same value', async () => {
        await put(store, thing('a', { code: 'x' }));
        await expect(put(store, thing('b', { code: 'x' }))).rejects.toThrow(UniqueViolation);
        expect(await get('b')).toBeNull();
      });

      it('lets a document keep its own value and others hold null', async () => {
        await put(
          store,
          thing('a', { code: 'x' }),
          thing('b', { code: null }),
          thing('c', { code: null }),
        );
        await put(store, thing('a', { code: 'x', number: 2 }));
        expect((await get('a'))?.number).toBe(2);
      });

      it('frees a value when its document is removed or changed', async () => {
        await put(store, thing('a', { code: 'x' }), thing('b', { code: 'y' }));
        await store.transaction((tx) => tx.things.delete('a'));
        await put(store, thing('b', { code: 'z' }));
        await put(store, thing('c', { code: 'x' }), thing('d', { code: 'y' }));
        expect(await all(store)).toHaveLength(3);
      });

      it.each([
        ['a', 'b'],
        ['b', 'a'],
      ])(
        'lets a value move from %s to %s in a transaction that looks for the value in between',
        async (from, to) => {
          await put(store, thing(from, { code: 'x' }), thing(to, { code: null }));
          await store.transaction(async (tx) => {
            await tx.things.put(thing(from, { code: 'y' }));
            expect(await tx.things.find({ where: { code: 'x' }, limit: 1 })).toEqual([]);
            await tx.things.put(thing(to, { code: 'x' }));
          });
          expect([(await get(from))?.code, (await get(to))?.code]).toEqual(['y', 'x']);
        },
      );

      it('lets exactly one of several documents have a value when they are put at the same time', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, n) => put(store, thing(`t${n}`, { code: 'x' }))),
        );
        const refused = outcomes.filter(({ status }) => status === 'rejected');
        expect(refused).toHaveLength(19);
        for (const each of refused)
          expect(each).toMatchObject({ reason: expect.any(UniqueViolation) });
      });
    });

    describe('durability', () => {
      it('still has everything after the store is reopened', async () => {
        await put(
          store,
          thing('a', { number: 1 }),
          thing('b', { number: 2 }),
          thing('c', { code: 'x' }),
        );
        await put(store, thing('a', { number: 10 }));
        await store.transaction((tx) => tx.things.delete('b'));
        store = await reopen();
        expect(await all(store)).toEqual([thing('a', { number: 10 }), thing('c', { code: 'x' })]);
        await expect(put(store, thing('d', { code: 'x' }))).rejects.toThrow(UniqueViolation);
      });

      it('refuses transactions once it is closed, after finishing those that ran', async () => {
        const running = put(store, thing('a'));
        const closed = store.close();
        await running;
        await closed;
        await expect(put(store, thing('b'))).rejects.toThrow(StoreUnavailable);
        await expect(
          store.claim({ queue: 'q', limit: 1, freeSlots: () => 1, leaseMs: 1 }),
        ).rejects.toThrow(StoreUnavailable);
        store = await reopen();
        expect(await all(store)).toEqual([thing('a')]);
      });

      it('says that nothing is wrong with it', () => {
        expect(store.fault).toBeNull();
      });
    });

    describeQueries(() => store);
    describeSearch(() => store, reopenStore);
    describeJobs(
      () => store,
      () => clock,
      reopenStore,
    );
    describeChanges(() => store, reopenStore);
    if (isMoving) describeDump(() => ({ store, clock }), open);
    describeRewrite(() => ({ store, reopen: reopenStore }));
  });
};
