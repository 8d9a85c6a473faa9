// Transactions that come together share one in the database, and yet each has its own outcome.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { UniqueViolation } from '../../../service/src/store/store.ts';
import {
  job,
  put,
  thing,
  type ContractStore,
  type ContractTransaction,
} from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { startCommitProxy, type CommitProxy } from '../outage/commitProxy.ts';
import {
  freshSchema,
  openClient,
  openQuietStore,
  removeSchema,
  StoppableDatabase,
} from './contractStores.ts';

const MANY = 20;
const ids = Array.from({ length: MANY }, (_, n) => `thing_${String(n).padStart(2, '0')}`);

describe('transactions that come together', () => {
  let schema: string;
  let store: ContractStore;
  let client: pg.Client;
  const undo: (() => unknown)[] = [];
  beforeEach(async () => {
    schema = freshSchema();
    store = await openQuietStore(schema);
    client = await openClient();
  });
  afterEach(async () => {
    for (const each of undo.splice(0).reverse()) await each();
    await client.end();
    await store.close();
    await removeSchema(schema);
  });

  const incrementIn = async (tx: ContractTransaction, id: string) => {
    const before = (await tx.things.get(id)) ?? thing(id);
    await tx.things.put({ ...before, number: before.number + 1 });
  };
  const increment = (id: string, on = store) => on.transaction((tx) => incrementIn(tx, id));
  const numbers = async () =>
    (await client.query(`SELECT number FROM "${schema}".things ORDER BY id`)).rows.map(
      ({ number }) => Number(number),
    );
  /** How many transactions of the database wrote the things that are stored. */
  const writers = async () =>
    Number(
      (await client.query(`SELECT count(DISTINCT xmin::text) FROM "${schema}".things`)).rows[0]
        .count,
    );
  const openOn = async (database: string | StoppableDatabase) => {
    const opened = await openQuietStore(schema, { database });
    undo.push(() => opened.close());
    return opened;
  };

  it('are one transaction of the database', async () => {
    await Promise.all(ids.map((id) => increment(id)));
    expect(await numbers()).toEqual(ids.map(() => 1));
    expect(await writers()).toBe(1);
  });

  it('leave each other alone when one of them throws', async () => {
    const failing = store.transaction(async (tx) => {
      await tx.things.get('failing');
      await tx.things.put(thing('failing'));
      await tx.jobs.enqueue(job('j'));
      throw new Error('it fails');
    });
    const outcomes = await Promise.allSettled([increment('a'), failing, increment('b')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await numbers()).toEqual([1, 1]);
    expect(await writers()).toBe(1);
    expect((await client.query(`SELECT id FROM "${schema}".jobs`)).rows).toEqual([]);
  });

  it('leave each other alone when the database refuses what one of them writes', async () => {
    await put(store, thing('there', { code: 'taken' }));
    const outcomes = await Promise.allSettled([
      ...ids.map((id) => increment(id)),
      put(store, thing('refused', { code: 'taken' })),
    ]);
    expect(outcomes.slice(0, MANY).map(({ status }) => status)).toEqual(ids.map(() => 'fulfilled'));
    expect(outcomes[MANY]).toMatchObject({ reason: expect.any(UniqueViolation) });
    await store.transaction((tx) => tx.things.delete('there'));
    expect(await numbers()).toEqual(ids.map(() => 1));
  });

  it('leave each other alone when the database refuses what one of them asks', async () => {
    const asking = store.transaction(async (tx) => {
      await tx.things.get('asked');
      await tx.things.find({ where: {}, orderBy: 'number', after: { value: 'NaN?' }, limit: 1 });
    });
    const outcomes = await Promise.allSettled([asking, ...ids.map((id) => increment(id))]);
    expect(outcomes[0]!.status).toBe('rejected');
    expect(outcomes.slice(1).map(({ status }) => status)).toEqual(ids.map(() => 'fulfilled'));
    expect(await numbers()).toEqual(ids.map(() => 1));
  });

  it('change the same two documents one after the other, in whatever order they ask for them', async () => {
    const both = (first: string, second: string) =>
      store.transaction(async (tx) => {
        for (const id of [first, second]) await incrementIn(tx, id);
      });
    await Promise.all(ids.flatMap(() => [both('a', 'b'), both('b', 'a'), increment('b')]));
    expect(await numbers()).toEqual([2 * MANY, 3 * MANY]);
  });

  it('see nothing of what another one of them writes and reads again', async () => {
    const gate = Promise.withResolvers<undefined>();
    const find = (group: string) =>
      store.transaction(async (tx) => {
        await tx.others.get(`locked for ${group}`);
        return tx.things.find({ where: { group }, limit: 9 });
      });
    const writing = store.transaction(async (tx) => {
      await tx.things.get('mine');
      await tx.things.put(thing('mine', { group: 'mine' }));
      expect(await tx.things.find({ where: { group: 'mine' }, limit: 9 })).toHaveLength(1);
      await gate.promise;
    });
    expect(await Promise.all([find('mine'), find('mine')])).toEqual([[], []]);
    gate.resolve(undefined);
    await writing;
    expect(await find('mine')).toHaveLength(1);
  });

  it('do not wait for a document that another connection has, except the one that wants it', async () => {
    await increment('held');
    await client.query('BEGIN');
    await client.query(`SELECT FROM "${schema}".things WHERE id = 'held' FOR UPDATE`);
    let isDone = false;
    const waiting = increment('held').then(() => (isDone = true));
    await Promise.all(ids.map((id) => increment(id)));
    expect(isDone).toBe(false);
    await client.query('COMMIT');
    await waiting;
    expect((await numbers())[0]).toBe(2);
  });

  it('do not wait for one of them that takes long', async () => {
    const gate = Promise.withResolvers<undefined>();
    let runs = 0;
    const slow = store.transaction(async (tx) => {
      await tx.things.get('slow');
      runs += 1;
      if (runs === 1) await gate.promise;
      await tx.things.put(thing('slow', { number: 7 }));
    });
    await Promise.all(ids.map((id) => increment(id)));
    expect(await numbers()).toEqual(ids.map(() => 1));
    await increment('slow'); // its lock has ended with the batch
    gate.resolve(undefined);
    await slow;
    expect((await numbers())[0]).toBe(7);
    expect(runs).toBe(2);
  });

  it('happen once each when their connection is cut before the commit', async () => {
    const database = new StoppableDatabase();
    const cut = await openOn(database);
    await Promise.all(ids.map((id) => increment(id, cut)));
    database.stopBefore((text) => text === 'COMMIT');
    const again = Promise.all(ids.map((id) => increment(id, cut)));
    await waitFor('the commit', () => database.stopped > 0);
    await waitFor('its connection to be cut', async () => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%${schema}%'`,
      );
      return rowCount === 1;
    });
    database.goOn();
    await again;
    expect(await numbers()).toEqual(ids.map(() => 2));
  });

  it.each(['answer', 'request'] as const)(
    'happen once each when the %s of their commit is lost with the connection',
    async (what) => {
      const proxy: CommitProxy = await startCommitProxy(process.env.DATABASE_URL!);
      undo.push(() => proxy.close());
      const cut = await openOn(proxy.url);
      await Promise.all(ids.map((id) => increment(id, cut)));
      proxy.strikeNext(ids[3]!, what);
      await Promise.all(ids.map((id) => increment(id, cut)));
      expect(proxy.struck).toBe(1);
      expect(await numbers()).toEqual(ids.map(() => 2));
    },
  );
});
