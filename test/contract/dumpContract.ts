import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DumpedRecord } from '../../service/src/store/store.ts';
import { StoreNotEmpty, UniqueViolation } from '../../service/src/store/store.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { ContractClock, ContractStore, OpenContractStore, Thing } from './schema.ts';
import { CONTRACT_NOW, all, enqueue, job, put, thing } from './schema.ts';

const gather = async (records: AsyncIterable<DumpedRecord>): Promise<DumpedRecord[]> => {
  const gathered: DumpedRecord[] = [];
  for await (const record of records) gathered.push(record);
  return gathered;
};

/** The records as text, so that a comparison sees every field and every character. */
const dumpOf = async (store: ContractStore): Promise<readonly string[]> =>
  (await gather(store.dump())).map((record) => JSON.stringify(record));

async function* from(records: readonly DumpedRecord[]): AsyncGenerator<DumpedRecord> {
  yield* records;
}

let deep: unknown = 'bottom';
for (let level = 0; level < 200; level += 1)
  deep = level % 2 === 0 ? [deep, level] : { [`level ${level}`]: deep };

const VALUES: Readonly<Record<string, unknown>> = {
  null: null,
  'empty text': '',
  NUL: 'before\u0000after',
  'controls and separators': '\u0001\u001e\u007f\u2028\u2029\r\n\t"\\',
  'lone surrogates': ['\ud800', '\udfff', 'a\ud83dz', '\udc00\ud800'],
  'pairs and marks': '🚲 ä a\u0308 \uffff \u{10ffff} مرحبا',
  'what looks like an escape': '\\u0000 \\ud800',
  numbers: [0, -1, 0.1, 1e-300, 1.7976931348623157e308, 9_007_199_254_740_993, 5e-324],
  truth: [true, false],
  empty: [{}, [], [[]], { '': '' }],
  'odd names': JSON.parse(
    '{"__proto__":{"a":1},"constructor":null,"12":1,"b\\u0000":2,"\\ud800":3}',
  ),
  deep,
  long: 'ö'.repeat(300_000),
};

/** What `dump` and `restore` promise: everything moves from any store to any other. */
export const describeDump = (
  opened: () => { store: ContractStore; clock: ContractClock },
  open: OpenContractStore,
): void => {
  describe('moving', () => {
    let other: Awaited<ReturnType<OpenContractStore>>;
    beforeEach(async () => {
      other = await open();
    });
    afterEach(() => other.remove());

    it('gives documents ordered by collection and id, then jobs', async () => {
      const { store } = opened();
      await store.transaction((tx) => tx.others.put({ id: 'x' }));
      await put(store, thing('c'), thing('a'), thing('b'));
      await enqueue(store, job('2'), job('1'));
      const order = (await gather(store.dump())).map((record) =>
        'job' in record ? `job ${record.job.id}` : `${record.collection} ${record.document.id}`,
      );
      expect(order).toEqual(['others x', 'things a', 'things b', 'things c', 'job 1', 'job 2']);
    });

    it('gives nothing for an empty store, and takes an empty dump too', async () => {
      expect(await dumpOf(opened().store)).toEqual([]);
      await other.store.restore(opened().store.dump());
      expect(await dumpOf(other.store)).toEqual([]);
    });

    it('moves every kind of value unchanged, there and back', async () => {
      const { store } = opened();
      const things = Object.entries(VALUES).map(([id, note], number) =>
        thing(id, { note, number: number - 1.5 }),
      );
      await put(store, ...things);
      const before = await dumpOf(store);
      expect(before).toHaveLength(things.length);
      await other.store.restore(store.dump());
      expect(await dumpOf(other.store)).toEqual(before);
      const again = await other.reopen();
      expect(await dumpOf(again)).toEqual(before);
      const back = await open();
      await back.store.restore(again.dump());
      expect(await dumpOf(back.store)).toEqual(before);
      for (const each of things)
        expect(await back.store.transaction((tx) => tx.things.get(each.id))).toEqual(each);
      await back.remove();
    });

    it('moves any text in ids and searched fields', async () => {
      const { store } = opened();
      const ids = [
        '__proto__',
        'constructor',
        'ä ☃ 🚲',
        'line\nbreak',
        '\u0000\u001e',
        '\u0001',
        '12',
      ];
      await put(store, ...ids.map((id) => thing(id, { group: id, code: id })));
      await enqueue(
        store,
        ...ids.map((id, n) =>
          job(id, { group: `g${n}`, data: { [id]: id, none: null, number: 1.5, truth: true } }),
        ),
      );
      await other.store.restore(store.dump());
      expect((await dumpOf(other.store)).toSorted()).toEqual((await dumpOf(store)).toSorted());
      for (const group of ids) {
        expect(
          await other.store.transaction((tx) => tx.things.find({ where: { group }, limit: 9 })),
        ).toEqual([thing(group, { group, code: group })]);
      }
    });

    it('leaves a store that finds what was restored, keeps unique values unique, and takes writes', async () => {
      const { store } = opened();
      await put(
        store,
        thing('a', { code: 'x', group: 'old' }),
        thing('b', { at: '2026-02-02' }),
        thing('c', { at: '2026-01-02' }),
      );
      await other.store.restore(store.dump());
      await expect(put(other.store, thing('d', { code: 'x' }))).rejects.toThrow(UniqueViolation);
      await put(other.store, thing('a', { code: 'y', group: 'new' }), thing('e', { code: 'x' }));
      const again = await other.reopen();
      expect((await all(again)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'e']);
      const sorted = await again.transaction((tx) =>
        tx.things.find({ where: { group: 'g' }, orderBy: 'at', limit: 9 }),
      );
      expect(sorted.map(({ id }) => id)).toEqual(['e', 'c', 'b']);
      expect(await all(store)).toHaveLength(3);
    });

    describe('jobs', () => {
      const claim = (store: ContractStore, limit = 9) =>
        store.claim({ queue: 'q', limit, freeSlots: () => limit, leaseMs: 60_000 });
      const claimed = (store: ContractStore, count: number) =>
        waitFor(`${count} jobs to be claimed`, async () => {
          const jobs = await claim(store, count);
          return jobs.length === count ? jobs : null;
        });

      it('keep their time, rank and data, and are claimed in the same order', async () => {
        const { store } = opened();
        const jobs = [
          job('retry', { rank: 1, runAt: CONTRACT_NOW - 9_000 }),
          job('second', {
            runAt: CONTRACT_NOW - 1_000,
            data: { text: 't\u0000', number: 1, truth: false, nothing: null },
          }),
          job('first', { runAt: CONTRACT_NOW - 5_000 }),
        ];
        await enqueue(store, ...jobs);
        await other.store.restore(store.dump());
        const all = await claimed(other.store, 3);
        expect(all).toEqual([jobs[2], jobs[1], jobs[0]]);
      });

      it('keep their waiting time, wherever they are', async () => {
        const { store } = opened();
        await enqueue(store, job('waits', { runAt: CONTRACT_NOW + 120_000, rank: 1 }));
        other.clock.advance(50_000);
        await other.store.restore(store.dump());
        expect(await other.store.msUntilDue('q')).toBeGreaterThan(69_900);
        expect(await other.store.msUntilDue('q')).toBeLessThanOrEqual(70_000);
        expect(await claim(other.store)).toEqual([]);
        other.clock.advance(70_000);
        expect((await claimed(other.store, 1))[0]).toEqual(
          job('waits', { runAt: CONTRACT_NOW + 120_000, rank: 1 }),
        );
      });

      it('wait no longer than in the first store when the clock was wrong as they were enqueued', async () => {
        const { store, clock } = opened();
        clock.jump(86_400_000);
        await enqueue(store, job('a', { runAt: CONTRACT_NOW + 86_400_000 + 5_000 }));
        clock.jump(-86_400_000);
        clock.advance(1_000);
        other.clock.advance(1_000);
        await other.store.restore(store.dump());
        expect(await other.store.msUntilDue('q')).toBeLessThanOrEqual(5_000);
        expect(await other.store.msUntilDue('q')).toBeGreaterThan(3_900);
      });

      it('that were claimed wait again, in the dump and where it is restored', async () => {
        const { store } = opened();
        await enqueue(
          store,
          job('taken'),
          job('free', { group: 'h' }),
          job('done', { group: 'i' }),
        );
        const before = await claimed(store, 3);
        expect(before).toHaveLength(3);
        await store.transaction((tx) => tx.jobs.complete('done'));
        await store.transaction((tx) =>
          tx.jobs.release('free', { runAt: CONTRACT_NOW + 5_000, rank: 1 }),
        );
        const records = await gather(store.dump());
        expect(records).toEqual([
          { job: job('free', { group: 'h', runAt: CONTRACT_NOW + 5_000, rank: 1 }) },
          { job: job('taken') },
        ]);
        await other.store.restore(from(records));
        expect(await claimed(other.store, 1)).toEqual([job('taken')]);
        // In the source store, the worker that claimed it still has it.
        expect(await claim(store)).toEqual([]);
      });

      it('are done once and are gone for good where they were restored', async () => {
        const { store } = opened();
        await enqueue(store, job('a'), job('b', { group: 'h' }));
        await other.store.restore(store.dump());
        for (const { id } of await claimed(other.store, 2))
          await other.store.transaction((tx) => tx.jobs.complete(id));
        const again = await other.reopen();
        expect(await claim(again)).toEqual([]);
        expect(await dumpOf(again)).toEqual([]);
      });
    });

    it('refuses a store that holds a document, and one that holds a job, and changes nothing there', async () => {
      const { store } = opened();
      await put(store, thing('a'));
      for (const fill of [
        () => other.store.transaction((tx) => tx.others.put({ id: 'o' })),
        () => enqueue(other.store, job('j')),
      ]) {
        await fill();
        const before = await dumpOf(other.store);
        await expect(other.store.restore(store.dump())).rejects.toThrow(StoreNotEmpty);
        expect(await dumpOf(other.store)).toEqual(before);
        await other.remove();
        other = await open();
      }
    });

    it('restores into a store that was filled and emptied again', async () => {
      const { store } = opened();
      await put(store, thing('a'));
      await put(other.store, thing('b'));
      await enqueue(other.store, job('j'));
      await other.store.transaction(async (tx) => {
        await tx.things.delete('b');
        await tx.jobs.complete('j');
      });
      await other.store.restore(store.dump());
      expect(await all(await other.reopen())).toEqual([thing('a')]);
    });

    const records = (count: number): DumpedRecord[] =>
      Array.from({ length: count }, (_, n) => ({
        collection: 'things',
        document: thing(`t${String(n).padStart(6, '0')}`),
      }));
    const refused: readonly [string, () => AsyncGenerator<DumpedRecord>, RegExp][] = [
      [
        'a source that fails in the middle',
        async function* () {
          yield* records(3_000);
          yield { job: job('j') };
          throw new Error('the line was cut');
        },
        /^the line was cut$/,
      ],
      ['an id that comes twice', () => from([...records(2_000), records(1)[0]!]), /t000000/],
      ['a job that comes twice', () => from([{ job: job('j') }, { job: job('j') }]), /j/],
      [
        'two documents with the same unique value',
        () =>
          from(
            ['a', 'b'].map((id) => ({ collection: 'things', document: thing(id, { code: 'x' }) })),
          ),
        /code/,
      ],
      [
        'a document without an id',
        () => from([...records(2), { collection: 'things', document: { id: '' } }]),
        /id/,
      ],
    ];
    it(`keeps nothing of ${refused.map(([what]) => what).join(', ')}; the store can take another dump`, async () => {
      for (const [what, source, message] of refused) {
        expect([
          what,
          await other.store.restore(source()).catch((error: Error) => error.message),
        ]).toEqual([what, expect.stringMatching(message)]);
        expect(await dumpOf(other.store)).toEqual([]);
      }
      const again = await other.reopen();
      expect(await dumpOf(again)).toEqual([]);
      await put(opened().store, thing('a'));
      await again.restore(opened().store.dump());
      expect(await all(again)).toEqual([thing('a')]);
    });

    it('shows the store at one moment without making writers wait: later changes are not in the dump', async () => {
      const { store } = opened();
      const things = Array.from({ length: 1_500 }, (_, n) =>
        thing(`t${String(n).padStart(5, '0')}`, { number: n }),
      );
      await put(store, ...things);
      await enqueue(store, job('kept'), job('completed'));
      const before = await dumpOf(store);

      const dumping = store.dump()[Symbol.asyncIterator]();
      const seen = [JSON.stringify((await dumping.next()).value)];
      await put(
        store,
        ...things.filter((_, n) => n % 3 === 0).map((each) => ({ ...each, number: -1 })),
      );
      await put(
        store,
        ...things.filter((_, n) => n % 6 === 0).map((each) => ({ ...each, number: -2 })),
      );
      await store.transaction(async (tx) => {
        for (const [n, { id }] of things.entries()) if (n % 3 === 1) await tx.things.delete(id);
        await tx.jobs.complete('completed');
        await tx.jobs.enqueue(job('added'));
        await tx.jobs.release('kept', { runAt: CONTRACT_NOW + 1, rank: 1 });
      });
      // New documents before, between and after the old ones, and one that was deleted before.
      await put(
        store,
        thing('a'),
        thing('t00700x'),
        thing('zz'),
        things[1]!,
        ...things.slice(0, 900).map(({ id }) => thing(`${id}n`)),
      );
      for (let next = await dumping.next(); next.done !== true; next = await dumping.next())
        seen.push(JSON.stringify(next.value));

      expect(seen).toEqual(before);
      const after = await dumpOf(store);
      expect(after).not.toEqual(before);
      expect(after.filter((text) => text.includes('"number":-2'))).toHaveLength(250);
    });

    it('never shows half of a transaction', async () => {
      const { store } = opened();
      const PAIRS = 150;
      const isOver = new AbortController();
      const write = async (n: number) => {
        for (let number = 1; !isOver.signal.aborted; number += 1) {
          await store.transaction(async (tx) => {
            await tx.things.put(thing(`left-${n}`, { number }));
            await tx.things.put(thing(`right-${n}`, { number }));
            await tx.jobs.enqueue(job(`job-${n}`, { data: { number } }));
          });
        }
        return 'over';
      };
      await put(
        store,
        ...Array.from({ length: PAIRS }, (_, n) => thing(`still-${String(n).padStart(4, '0')}`)),
      );
      const writers = Promise.all([0, 1, 2, 3].map(write));
      const numbers = new Set<number>();
      for (let round = 0; round < 12 || numbers.size < 2; round += 1) {
        const dump = await gather(store.dump());
        const numbersOf = (id: string) =>
          dump.flatMap((each) =>
            'document' in each && each.document.id === id
              ? [(each.document as Thing).number]
              : 'job' in each && each.job.id === id
                ? [each.job.data['number']]
                : [],
          );
        for (const n of [0, 1, 2, 3]) {
          expect(numbersOf(`right-${n}`)).toEqual(numbersOf(`left-${n}`));
          expect(numbersOf(`job-${n}`)).toEqual(numbersOf(`left-${n}`));
          for (const number of numbersOf(`left-${n}`)) numbers.add(number as number);
        }
        expect(
          dump.filter((each) => 'document' in each && each.document.id.startsWith('still-')),
        ).toHaveLength(PAIRS);
      }
      isOver.abort();
      expect(await writers).toEqual(['over', 'over', 'over', 'over']);
    });

    it('can stop in the middle of a dump', async () => {
      const { store } = opened();
      await put(store, ...Array.from({ length: 600 }, (_, n) => thing(`t${n}`)));
      for await (const record of store.dump()) {
        expect(record).toMatchObject({ collection: 'things' });
        break;
      }
      await put(store, thing('t0', { number: 1 }));
      expect(await dumpOf(store)).toHaveLength(600);
    });

    it('tells the readers of changes that there is a gap after a restore', async () => {
      await put(opened().store, thing('a'));
      const stop = new AbortController();
      const following = other.store.changes({ signal: stop.signal })[Symbol.asyncIterator]();
      const next = following.next();
      await other.store.restore(opened().store.dump());
      expect((await next).value).toMatchObject({ gap: true });
      stop.abort();
      await following.next();
    });
  });
};
