// Who has the schema to itself, and who was cut off meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { openPostgresStore } from '../../../service/src/store/postgres/index.ts';
import { enter } from '../../../service/src/store/postgres/presence.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import { contractMigrations } from '../../contract/openInFreshSchema.ts';
import { contractSchema, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openClient, removeSchema } from './contractStores.ts';

describe('a schema that somebody wants to have alone', () => {
  let schema: string;
  let store: ContractStore;
  let admin: pg.Client;
  let other: pg.Client;
  const rewritten: string[] = [];

  beforeEach(async () => {
    schema = freshSchema();
    const address = new URL(process.env.DATABASE_URL!);
    address.searchParams.set('application_name', schema);
    const onRewritten = ({ message }: Error) => void rewritten.push(message);
    store = await openPostgresStore(contractSchema, { database: address.href, schema, migrations: contractMigrations, queues: ['q'], connections: 2, works: false, onRewritten });
    [admin, other] = await Promise.all([openClient(), openClient()]);
    await write('first');
  });
  afterEach(async () => {
    await store.close();
    await Promise.all([admin.end(), other.end().catch(() => {})]);
    await removeSchema(schema);
    rewritten.length = 0;
  });

  const write = (id: string) => store.transaction((tx) => tx.others.put({ id }));
  const cut = (which: 'listening' | 'all') =>
    admin.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1 AND ($2 = 'all' OR query LIKE 'LISTEN %' OR query = 'SELECT 1')`, [schema, which]);
  const enterAlone = () => enter(other, `${schema}_news`, true);

  it('is refused while a process that is not there any more still has a connection to write over', async () => {
    await cut('listening');
    await expect(enterAlone()).rejects.toThrow(/^A process has \d of its connections to it open\. Stop all processes of the service first/);
    await write('second');
  });

  it('is had by nobody else as long: a process that was cut off is refused, and goes on afterwards', async () => {
    await cut('all');
    await enterAlone();
    await expect(write('second')).rejects.toThrow(StoreUnavailable);
    expect(store.fault).toMatch(/Another process has it to itself/);
    await sleep(1_000); // it tries again all the time
    expect(store.fault).toMatch(/Another process has it to itself/);
    await other.end();
    await waitFor('the process to have it back', () => store.fault === null);
    await write('second');
    expect(rewritten).toEqual([]);
  });

  it('is lost for a process that was cut off while everything in it was rewritten', async () => {
    await cut('all');
    const command = await openPostgresStore(contractSchema, { database: process.env.DATABASE_URL!, schema, migrations: contractMigrations, queues: ['q'], exclusive: true });
    await command.rewrite((document) => document);
    await command.transaction((tx) => tx.others.put({ id: 'of the command' }));
    await command.close();
    await waitFor('the process to find out', () => rewritten.length > 0);
    expect(rewritten[0]).toMatch(/was sealed with another key while this process was cut off/);
    await expect(write('second')).rejects.toThrow(/Start it again, with the new key/);
    const { rows } = await admin.query(`SELECT id FROM ${schema}.others ORDER BY id`);
    expect(rows.map(({ id }) => id)).toEqual(['first', 'of the command']);
  });
});
