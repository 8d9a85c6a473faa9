// What a transaction sends, and what it does when others change what it has read.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import type { Statement } from '../../../service/src/store/postgres/connection/database.ts';
import { StoreUnavailable, UniqueViolation } from '../../../service/src/store/store.ts';
import { put, thing, type ContractStore, type ContractTransaction } from '../../contract/schema.ts';
import { freshSchema, openQuietStore, openStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

/** Notes what is sent and answered, in the order in which it happens. */
class RecordingDatabase extends WrappedDatabase {
  #events: string[] | null = null;
  onAsked: (statement: Statement) => void = () => {};

  constructor() {
    super(3);
  }

  /**
   * @returns the first words of the statements that are sent, and how many trips they took:
   * statements that are sent without waiting for an answer make one trip
   */
  async during(run: () => Promise<unknown>): Promise<{ sent: readonly string[]; trips: number }> {
    this.#events = [];
    await run();
    const events = this.#events;
    this.#events = null;
    const sent = events.filter((event) => event !== 'answer');
    return {
      sent,
      trips: events.filter(
        (event, i) => event !== 'answer' && (i === 0 || events[i - 1] === 'answer'),
      ).length,
    };
  }

  protected wrap(connection: Connection): Connection['query'] {
    return async (statement) => {
      // The store's own reads of changes, and its notifications, do not count.
      const isOurs = !['cs_changes', 'cs_notify'].includes(statement.name ?? '');
      if (isOurs) this.onAsked(statement);
      if (isOurs) this.#events?.push(/^\W*(\w+)/.exec(statement.text)![1]!);
      const result = await connection.query(statement);
      if (isOurs) this.#events?.push('answer');
      return result;
    };
  }
}

describe('a transaction on PostgreSQL', () => {
  let schema: string;
  let database: RecordingDatabase;
  let store: ContractStore;
  let other: ContractStore;
  beforeEach(async () => {
    schema = freshSchema();
    database = new RecordingDatabase();
    store = await openQuietStore(schema, { database });
    other = await openQuietStore(schema);
  });
  afterEach(async () => {
    await store.close();
    await other.close();
    await removeSchema(schema);
  });
  const read = (id: string) => other.transaction((tx) => tx.things.peek(id));

  it('that only reads opens no transaction in the database', async () => {
    await put(other, thing('a'));
    const traffic = await database.during(() =>
      store.transaction(async (tx) => [
        await tx.things.peek('a'),
        await tx.things.find({ where: { group: 'g' }, limit: 9 }),
      ]),
    );
    expect(traffic).toEqual({ sent: ['SELECT', 'SELECT'], trips: 2 });
  });

  it('sends reads that are made together in one trip, also of several collections, and gives each its result', async () => {
    await put(
      other,
      ...['a', 'b', 'c', 'd'].map((id, number) =>
        thing(id, { number, group: id < 'c' ? 'first' : 'second' }),
      ),
    );
    await other.transaction((tx) => tx.others.put({ id: 'o' }));
    let seen: unknown;
    const traffic = await database.during(async () => {
      seen = await store.transaction((tx) =>
        Promise.all([
          tx.things.find({ where: {}, orderBy: 'number', direction: 'desc', limit: 3 }),
          tx.others.peek('o'),
          tx.things.find({ where: { group: 'first' }, limit: 9 }),
          tx.things.find({ where: { group: 'none' }, limit: 9 }),
          tx.things.find({ where: { group: 'second' }, after: { value: 'c' }, limit: 9 }),
          tx.others.peek('nobody'),
        ]),
      );
    });
    const ids = (seen as ({ id: string } | { id: string }[] | null)[]).map((each) =>
      Array.isArray(each) ? each.map(({ id }) => id).join('') : (each?.id ?? null),
    );
    expect(ids).toEqual(['dcb', 'o', 'ab', '', 'd', null]);
    expect(traffic.trips).toBe(1);
    expect(traffic.sent.length).toBeLessThan(5);
  });

  it('asks once for what several read at the same time, and each gets it', async () => {
    await put(other, thing('a'), thing('b'));
    const ids = ['a', 'b', 'a', 'none', 'a', 'none'];
    const asked: unknown[] = [];
    database.onAsked = ({ values }) => asked.push(values);
    const seen = await store.transaction((tx) => Promise.all(ids.map((id) => tx.things.peek(id))));
    expect(seen.map((found) => found?.id ?? null)).toEqual(['a', 'b', 'a', null, 'a', null]);
    expect(asked).toEqual([[['a', 'b', 'none']]]);
  });

  it('that changes what it has locked takes two trips: lock, then writes and commit together', async () => {
    await put(other, thing('a'));
    const change = () =>
      store.transaction(async (tx) => {
        const a = await tx.things.get('a');
        await tx.things.put({ ...a!, number: a!.number + 1 });
        await tx.others.put({ id: 'o' });
      });
    expect(await database.during(change)).toEqual({
      sent: ['BEGIN', 'SELECT', 'INSERT', 'INSERT', 'COMMIT'],
      trips: 2,
    });
    expect(await read('a')).toMatchObject({ number: 1 });
  });

  it('keeps nothing when one of its writes fails, though its commit is on the way, and the connection is good for the next', async () => {
    await put(other, thing('a'), thing('b', { code: 'taken' }));
    const collide = () =>
      store.transaction(async (tx) => {
        await tx.others.put({ id: 'before' });
        const a = await tx.things.get('a');
        await tx.things.put({ ...a!, number: 1 });
        await tx.things.put(thing('c', { code: 'taken' }));
      });
    for (let n = 0; n < 5; n += 1) await expect(collide()).rejects.toThrow(UniqueViolation);
    expect(await read('a')).toMatchObject({ number: 0 });
    expect(await read('c')).toBeNull();
    expect(await other.transaction((tx) => tx.others.peek('before'))).toBeNull();
    await put(store, thing('d'));
    expect(await read('d')).toEqual(thing('d'));
  });

  it('that fails while a read is about to send its writes keeps none of them', async () => {
    const failing = store.transaction(async (tx) => {
      await tx.things.put(thing('a'));
      await Promise.all([
        tx.things.find({ where: {}, limit: 1 }),
        Promise.reject(new Error('it fails')),
      ]);
    });
    await expect(failing).rejects.toThrow('it fails');
    // One on each connection, the failed transaction's too: that transaction has ended by then.
    await Promise.all(['b', 'c', 'd'].map((id) => put(store, thing(id))));
    expect(await read('a')).toBeNull();
  });

  it.each([
    ['written', (tx: ContractTransaction) => tx.things.put(thing('a', { number: 10 }))],
    ['deleted', (tx: ContractTransaction) => tx.things.delete('a')],
  ])(
    'runs again when a document that it found without a lock has changed before being %s',
    async (_what, write) => {
      await put(other, thing('a', { number: 1 }));
      const found: number[] = [];
      await store.transaction(async (tx) => {
        await tx.others.get('o');
        const [a] = await tx.things.find({ where: { group: 'g' }, limit: 1 });
        found.push(a!.number);
        if (found.length === 1) await put(other, thing('a', { number: 2 }));
        if (a!.number !== 1) return;
        await tx.others.put({ id: 'o' });
        await write(tx);
      });
      expect(found).toEqual([1, 2]);
      expect(await read('a')).toMatchObject({ number: 2 });
      expect(await other.transaction((tx) => tx.others.peek('o'))).toBeNull();
    },
  );

  it('waits for nobody who holds the same new id in another schema', async () => {
    const elsewhere = freshSchema();
    const stranger = await openQuietStore(elsewhere);
    try {
      await stranger.transaction(async (strange) => {
        await strange.things.get('new');
        // A wait here would never end: the outer transaction goes on when the inner one has ended.
        await store.transaction(async (tx) => {
          expect(await tx.things.get('new')).toBeNull();
          await tx.things.put(thing('new'));
        });
      });
    } finally {
      await stranger.close();
      await removeSchema(elsewhere);
    }
    expect(await read('new')).toEqual(thing('new'));
  });

  it('that waits too long for a connection is refused because all are in use, and the store reports no fault', async () => {
    const few = await openStore(schema, { connections: 2 });
    const claim = () => few.claim({ queue: 'q', limit: 1, freeSlots: () => 1, leaseMs: 60_000 });
    const gate = Promise.withResolvers<undefined>();
    try {
      const holding: Promise<void>[] = [];
      for (const id of ['a', 'b']) {
        const held = Promise.withResolvers<undefined>();
        const hold = few.transaction(async (tx) => {
          await tx.things.get(id);
          await tx.things.put(thing(id));
          held.resolve(undefined);
          await gate.promise;
        });
        holding.push(hold);
        await held.promise; // the next one cannot be in its batch
      }
      const refused = await Promise.allSettled([
        put(few, thing('c')),
        few.transaction(async (tx) => {
          await tx.things.get('d').catch(() => null);
          await tx.things.put(thing('d'));
        }),
        claim(),
      ]);
      for (const each of refused) {
        expect(each).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
        expect(String((each as PromiseRejectedResult).reason)).toMatch(
          /all 2 connections to the database are in use/,
        );
      }
      expect(few.fault).toBeNull();
      gate.resolve(undefined);
      await Promise.all(holding);
      await put(few, thing('c'), thing('d')); // neither is locked by what was refused
      expect(await claim()).toEqual([]);
    } finally {
      gate.resolve(undefined);
      await few.close();
    }
  });
});
