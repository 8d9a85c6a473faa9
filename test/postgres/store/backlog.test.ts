// A dead subscriber's backlog is not read past when others' work is fetched: counted in pages, not
// in time.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { silent } from '../../../service/src/store/clockAndLog.ts';
import type {
  Connection,
  Database,
  Statement,
} from '../../../service/src/store/postgres/connection/database.ts';
import { PgDatabase } from '../../../service/src/store/postgres/connection/pgDatabase.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';

const BACKLOG = 10_000;

let schema: string;
let store: ContractStore;
let client: pg.Client;
/** What the store asked of the server. */
let asked: Statement[];
beforeEach(async () => {
  schema = freshSchema();
  asked = [];
  const inner = new PgDatabase({ url: process.env.DATABASE_URL!, connections: 5, log: silent });
  const database: Database = {
    kind: 'postgres',
    connect: async (): Promise<Connection> => {
      const connection = await inner.connect();
      return {
        query: (statement) => {
          asked.push(statement);
          return connection.query(statement);
        },
        release: (error) => connection.release(error),
      };
    },
    listen: (...args) => inner.listen(...args),
    setSessionStatements: (statements) => inner.setSessionStatements(statements),
    setGuard: (guard) => inner.setGuard(guard),
    close: () => inner.close(),
  };
  store = await openStore(schema, database, undefined, false);
  client = await openClient();
  await client.query('SET enable_seqscan = off');
});
afterEach(async () => {
  await client.end();
  await store.close();
  await removeSchema(schema);
});

const enqueue = (group: string, count: number, inMs: number, rank: number) =>
  store.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1)
      await tx.jobs.enqueue({
        id: `${group} ${n} ${inMs}`,
        queue: 'q',
        group,
        runAt: Date.now() + inMs,
        rank,
        data: {},
      });
  });

/** Pages that one claim of the living group's work reads: in all that it asks of the server. */
async function pagesOfAClaim(): Promise<number> {
  await enqueue('living', 1, 0, 0);
  asked.length = 0;
  const jobs = await store.claim({
    queue: 'q',
    limit: 10,
    freeSlots: (group) => (group === 'dead' ? 0 : 4),
    leaseMs: 60_000,
  });
  expect(jobs.map(({ group }) => group)).toEqual(['living']);
  const statements = asked.filter(({ text }) => /^\s*WITH/.test(text));
  expect(statements.some(({ name }) => name === 'cs_claim')).toBe(true);
  let pages = 0;
  for (const { text, values } of statements) {
    await client.query('BEGIN');
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>({
      text: `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
      values: [...(values ?? [])],
    });
    await client.query('ROLLBACK');
    const { Plan } = rows[0]!['QUERY PLAN'][0]!;
    pages += Plan['Shared Hit Blocks']! + Plan['Shared Read Blocks']!;
  }
  await store.transaction((tx) => tx.jobs.complete(jobs[0]!.id));
  return pages;
}

it.each([
  ['waits for its time', 3_600_000],
  ['is due', -1_000],
])('reads no more for others while the backlog of one %s', async (_what, inMs) => {
  const alone = await pagesOfAClaim();
  await enqueue('dead', BACKLOG, inMs, 1);
  expect(await pagesOfAClaim()).toBeLessThan(2 * alone + 50); // reading past it: hundreds
});
