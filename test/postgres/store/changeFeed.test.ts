// What the change feed promises when transactions run side by side and end in another order than they
// began.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { ChangeReader } from '../../../service/src/store/postgres/changeReader.ts';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import type { Change, Gap, Schema } from '../../../service/src/store/store.ts';
import { put, thing, type ContractStore, type Thing } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

describe('the change feed', () => {
  let schema: string;
  let store: ContractStore;
  let seen: (Change | Gap)[];
  let abort: AbortController;
  let clients: pg.Client[];
  beforeEach(async () => {
    schema = freshSchema();
    store = await openStore(schema);
    abort = new AbortController();
    seen = [];
    const changes = store.changes({ signal: abort.signal });
    void (async () => {
      for await (const change of changes) seen.push(change as Change | Gap);
    })();
    clients = [await openClient(), await openClient()];
  });
  afterEach(async () => {
    abort.abort();
    for (const client of clients) await client.end();
    await store.close();
    await removeSchema(schema);
  });
  const short = () =>
    seen.map((change) =>
      'gap' in change ? 'gap' : `${change.id} ${(change.document as Thing).number}`,
    );

  it('waits for no long transaction: neither for one of ours nor for one of another program on the server', async () => {
    const [stranger] = clients as [pg.Client];
    await stranger.query('BEGIN');
    await stranger.query('SELECT pg_current_xact_id()');
    const gate = Promise.withResolvers<undefined>();
    const inside = Promise.withResolvers<undefined>();
    const slow = store.transaction(async (tx) => {
      await tx.things.put(thing('slow'));
      await tx.things.find({ where: {}, limit: 1 }); // sends the put
      inside.resolve(undefined);
      await gate.promise;
    });
    await inside.promise;
    await put(store, thing('quick'));
    await waitFor('the change', () => seen.length > 0).finally(() => gate.resolve(undefined));
    await slow;
    await waitFor('the slow one', () => seen.length > 1);
    await put(store, thing('last'));
    await waitFor('the last one', () => seen.length > 2);
    expect(short()).toEqual(['quick 0', 'slow 0', 'last 0']);
  });

  it('survives whatever a stranger sends on its channel', async () => {
    const [stranger] = clients as [pg.Client];
    await store.claim({ queue: 'q', limit: 1, freeSlots: () => 1, leaseMs: 1_000 });
    const heard = Promise.withResolvers<undefined>();
    store.onWork(() => heard.resolve(undefined), 'q');
    for (const payload of [
      'hello',
      'null',
      '{"from":1}',
      '{"from":"x","worksOn":"y"}',
      '{"from":"x","added":"y"}',
      '{"from":"x","added":[null]}',
      '{"from":"x","added":[{"queue":"q","group":1,"dueAt":0}]}',
      '{"from":"x","added":[{"queue":"q","group":"g","dueAt":0}]}', // as another process says it
    ])
      await stranger.query('SELECT pg_notify($1, $2)', [`${schema}_news`, payload]);
    await heard.promise;
    await put(store, thing('next'));
    await waitFor('the change', () => seen.length > 0);
    expect(short()).toEqual(['next 0']);
  });

  it('shows the versions of a document in their order, whichever transaction began first', async () => {
    const [one, other] = clients as [pg.Client, pg.Client];
    await put(store, thing('a'), thing('b'));
    await waitFor('both', () => seen.length === 2);
    const set = (client: pg.Client, id: string, number: number) =>
      client.query(
        `UPDATE "${schema}".things SET number = $2::int, document = jsonb_set(document::jsonb, '{number}', to_jsonb($2::int))::json WHERE id = $1`,
        [id, number],
      );
    await one.query('BEGIN');
    await set(one, 'a', 1); // the transaction has its number now, the lower one
    await set(other, 'b', 1);
    await set(one, 'b', 2);
    await one.query('COMMIT');
    await waitFor('all', () => seen.length === 5);
    expect(short().filter((change) => change.startsWith('b'))).toEqual(['b 0', 'b 1', 'b 2']);
  });

  it('shows every change once when many come at once', async () => {
    const [one, other] = clients as [pg.Client, pg.Client];
    const insert = (client: pg.Client, prefix: string) =>
      client.query(
        `INSERT INTO "${schema}".things (id, document, number) SELECT $1 || n, json_build_object('id', $1 || n, 'number', n), n FROM generate_series(1, 3000) n`,
        [prefix],
      );
    await one.query('BEGIN');
    await insert(one, 'x');
    await insert(other, 'y');
    await put(store, thing('between'));
    await one.query('COMMIT');
    await waitFor('all', () => seen.length >= 6001);
    await put(store, thing('after'));
    await waitFor('the last', () =>
      seen.some((change) => !('gap' in change) && change.id === 'after'),
    );
    expect(new Set(short()).size).toBe(6002);
    expect(seen).toHaveLength(6002);
  });

  describe('as one process reads it', () => {
    /** How far the database's clock has gone on while this machine's stood still. */
    let sleptMs = 0;
    class SleptDatabase extends WrappedDatabase {
      protected wrap(connection: Connection): Connection['query'] {
        return async (statement) => {
          const { rows, ...rest } = await connection.query(statement);
          const later = (row: Record<string, unknown>) =>
            typeof row['now'] === 'number' ? { ...row, now: row['now'] + sleptMs } : row;
          return { ...rest, rows: rows.map(later) };
        };
      }
    }
    let database: SleptDatabase;
    let changes: ChangeReader<Schema>;
    beforeEach(async () => {
      sleptMs = 0;
      database = new SleptDatabase(2);
      changes = new ChangeReader(
        database,
        schema,
        10, // changes that are kept
        () => false, // never down
        () => {}, // the time is not of interest
      );
      await changes.start();
    });
    afterEach(async () => {
      await changes.close();
      await database.close();
    });

    it('forgets transactions that have written no document, as those that only end a job', async () => {
      for (let n = 0; n < 20; n += 1) {
        const { rows } = await clients[0]!.query('SELECT pg_current_xact_id()::text AS xid');
        changes.noteCommitted(rows[0].xid);
      }
      expect(changes.unreadCount).toBeGreaterThan(0);
      await waitFor('all of them to be forgotten', () => changes.unreadCount === 0);
    });

    it('tells of a gap when this machine has slept for longer than changes are kept', async () => {
      const heard: (Change | Gap)[] = [];
      const feed = changes.read({ signal: abort.signal });
      void (async () => {
        for await (const change of feed) heard.push(change as Change | Gap);
      })();
      await put(store, thing('before'));
      await waitFor('the change', () => heard.length === 1);
      sleptMs = 600_000;
      await waitFor('the gap', () => heard.length === 2);
      await put(store, thing('after'));
      await waitFor('the next change', () => heard.length === 3);
      expect(heard.map((change) => ('gap' in change ? 'gap' : change.id))).toEqual([
        'before',
        'gap',
        'after',
      ]);
    });
  });
});
