// A value that is rare, or was never stored, is found without reading past all others.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { collections } from '../../../service/src/app/collections.ts';
import { snakeCase } from '../../../service/src/store/postgres/connection/sql.ts';
import { openPostgresStore, serviceMigrations } from '../../../service/src/store/postgres/index.ts';
import { thing } from '../../contract/schema.ts';
import { freshSchema, removeSchema } from './contractStores.ts';
import { openCounted, type CountedStore } from './countedPages.ts';

const OTHERS = 10_000;
const AT_ONCE = 1_000;

let counted: CountedStore;
beforeEach(async () => {
  counted = await openCounted();
});
afterEach(() => counted.close());

it('a value that was never stored is looked for in few pages, although the statistics know one usual value only', async () => {
  const { store, client, schema, asked, pagesOf } = counted;
  for (let from = 0; from < OTHERS; from += AT_ONCE)
    await store.transaction(async (tx) => {
      for (let n = from; n < from + AT_ONCE; n += 1)
        await tx.things.put(thing(`t${n}`, { kind: 'usual', at: `2026-01-01 ${n}` }));
    });
  await client.query(`VACUUM ANALYZE "${schema}".things`);
  asked.length = 0;
  const found = await store.transaction((tx) =>
    tx.things.find({ where: { group: 'g', kind: 'rare' }, orderBy: 'at', limit: 50 }),
  );
  expect(found).toEqual([]);
  const reads = asked.filter(({ text }) => text.startsWith('SELECT q.n'));
  expect(reads).toHaveLength(1);
  expect(await pagesOf(reads)).toBeLessThan(50); // reading past all: hundreds
});

it('each indexed field of each collection of the service is declared to have many values', async () => {
  const schema = freshSchema();
  const store = await openPostgresStore(collections, {
    database: process.env.DATABASE_URL!,
    schema,
    migrations: serviceMigrations,
    queues: [],
  });
  try {
    // The declaration, n_distinct, is the only option that a column has.
    const { rows } = await counted.client.query(
      `SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = $1::regnamespace AND c.relname = ANY($2) AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attname NOT IN ('id', 'document', 'words') AND a.attoptions IS NULL`,
      [`"${schema}"`, Object.keys(collections).map(snakeCase)],
    );
    expect(rows).toEqual([]);
  } finally {
    await store.close();
    await removeSchema(schema);
  }
});
