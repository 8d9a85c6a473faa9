// What the contract of `rewrite` and `forgetHistory` cannot show.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type pg from 'pg';
import { silent } from '../../../service/src/store/clockAndLog.ts';
import { runOn } from '../../../service/src/store/postgres/connection/database.ts';
import { PgDatabase } from '../../../service/src/store/postgres/connection/pgDatabase.ts';
import { toText } from '../../../service/src/store/postgres/connection/sql.ts';
import { vacuumAll } from '../../../service/src/store/postgres/rewrite.ts';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';

let schema: string;
let client: pg.Client;
let database: PgDatabase;
beforeEach(async () => {
  schema = freshSchema();
  await (await openStore(schema)).close();
  client = await openClient();
  database = new PgDatabase({ url: process.env.DATABASE_URL!, connections: 1, log: silent });
});
afterEach(async () => {
  await client.end();
  await database.close();
  await removeSchema(schema);
});

it('leaves no connection without a time limit for statements when it fails', async () => {
  database.setSessionStatements(['SET lock_timeout = 100']);
  await client.query(`BEGIN; LOCK TABLE "${schema}".things IN ACCESS SHARE MODE`);
  await expect(vacuumAll(database, schema)).rejects.toThrow(/lock timeout/);
  const { rows } = await runOn(database, { text: 'SHOW statement_timeout' });
  expect(rows).toEqual([{ statement_timeout: '30s' }]);
});

it('rewrites a document with any id, also of a collection that the schema no longer names', async () => {
  const id = 'a\u0000\u0001';
  await client.query(`CREATE TABLE "${schema}".former (id text PRIMARY KEY, document json)`);
  const values = [toText(id), JSON.stringify({ id })];
  await client.query(`INSERT INTO "${schema}".former VALUES ($1, $2)`, values);
  const store = await openStore(schema);
  await store.rewrite((document) => ({ ...document, sealed: 'again' }));
  await store.close();
  const { rows } = await client.query(`SELECT document FROM "${schema}".former`);
  expect(rows).toEqual([{ document: { id, sealed: 'again' } }]);
});
