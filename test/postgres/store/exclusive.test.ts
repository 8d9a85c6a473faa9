// A process that has the schema to itself, and one that was cut off at that time.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { Connection, PostgresOptions } from '../../../service/src/store/postgres/index.ts';
import { lockOutConnections } from '../../../service/src/store/postgres/schema/schemaLock.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openClient, openQuietStore, removeSchema } from './contractStores.ts';

describe('a schema that a command wants to have alone', () => {
  let schema: string;
  let store: ContractStore;
  let command: ContractStore | undefined;
  let admin: pg.Client;
  const rewritten: string[] = [];

  beforeEach(async () => {
    schema = freshSchema();
    rewritten.length = 0;
    store = await open('process', {
      onRewritten: ({ message }) => rewritten.push(message),
    });
    admin = await openClient();
    await write('first');
  });
  afterEach(async () => {
    await command?.close();
    command = undefined;
    await store.close();
    await admin.end();
    await removeSchema(schema);
  });

  const open = (name: string, options: Partial<PostgresOptions>): Promise<ContractStore> => {
    const address = new URL(process.env.DATABASE_URL!);
    address.searchParams.set('application_name', `${schema} ${name}`);
    return openQuietStore(schema, { database: address.href, connections: 2, ...options });
  };
  const write = (id: string) => store.transaction((tx) => tx.others.put({ id }));
  const written = async () =>
    (await admin.query(`SELECT id FROM ${schema}.others ORDER BY id`)).rows.map(
      ({ id }) => id as string,
    );
  /** Ends connections, as the server does when it finds out that the network has failed. */
  const cut = (name: string, which: 'listening' | 'all') =>
    admin.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1 AND ($2 = 'all' OR query LIKE 'LISTEN %' OR query = 'SELECT 1')`,
      [`${schema} ${name}`, which],
    );
  /** The process comes back within half a second: the command has to be faster. */
  const beginCommand = (which: 'listening' | 'all') =>
    waitFor('the command to be faster', async () => {
      await cut('process', which);
      command = await open('command', { exclusive: true });
      return true;
    });

  it('is not rewritten while a process that lost its lock still has a connection to write over', async () => {
    await beginCommand('listening');
    await expect(command!.rewrite((document) => document)).rejects.toThrow(
      /^A process that has lost its lock on the schema still has connections to it open\. Stop all processes of the service first/,
    );
    await write('second');
    expect(rewritten).toEqual([]);
  });

  it('is not rewritten when the command lost its own lock, and a process came back', async () => {
    await beginCommand('all');
    await waitFor('the process to come back', async () => {
      await cut('command', 'listening');
      return write('second').then(() => true);
    });
    await expect(command!.rewrite((document) => document)).rejects.toThrow(
      /it open\. Stop all processes of the service first/,
    );
    await write('third');
    expect(rewritten).toEqual([]);
  });

  it('belongs to the command alone: a process that was cut off is refused, and goes on afterwards', async () => {
    const session = await openClient();
    const connection: Connection = {
      query: ({ text, values }) => session.query(text, [...values!]) as never,
      release: () => {},
    };
    await session.query('BEGIN');
    await waitFor('the command to be faster', async () => {
      await cut('process', 'all');
      await lockOutConnections(connection, `${schema}_news`);
      return true;
    });
    await expect(write('second')).rejects.toThrow(StoreUnavailable);
    expect(store.fault).toMatch(/Another process has it to itself/);
    await sleep(1_000); // it tries again all the time
    expect(store.fault).toMatch(/Another process has it to itself/);
    await session.end();
    await waitFor('the process to have it back', () => store.fault === null);
    await write('second');
    expect(rewritten).toEqual([]);
  });

  it('is closed to a process that was cut off while everything in it was rewritten', async () => {
    await beginCommand('all');
    await waitFor('the process to have no connection', () =>
      command!
        .rewrite((document) => document)
        .then(
          () => true,
          () => cut('process', 'all').then(() => false),
        ),
    );
    await command!.transaction((tx) => tx.others.put({ id: 'of the command' }));
    await waitFor('the process to find out', () => rewritten.length > 0);
    expect(rewritten[0]).toMatch(/was sealed with another key while this process was cut off/);
    await command!.close();
    await expect(write('second')).rejects.toThrow(/Start it again, with the new key/);
    expect(await written()).toEqual(['first', 'of the command']);
  });
});
