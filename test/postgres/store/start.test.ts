// What the store asks of a server before it changes anything, and how a start ends that fails.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silent } from '../../../service/src/store/options.ts';
import type { Connection, Database, Result, Statement } from '../../../service/src/store/postgres/database.ts';
import { openPostgresStore } from '../../../service/src/store/postgres/index.ts';
import { PgDatabase } from '../../../service/src/store/postgres/pgDatabase.ts';
import { contractMigrations } from '../../contract/openInFreshSchema.ts';
import { contractSchema } from '../../contract/schema.ts';
import { freshSchema, openClient, removeSchema } from './contractStores.ts';

/** The real server, but for one answer. */
class OtherAnswer implements Database {
  readonly kind = 'postgres';
  readonly #inner = new PgDatabase({ url: process.env.DATABASE_URL!, connections: 2, log: silent });
  readonly #answer: (statement: Statement) => Result | null;

  constructor(answer: (statement: Statement) => Result | null) {
    this.#answer = answer;
  }

  async connect(): Promise<Connection> {
    const connection = await this.#inner.connect();
    return { query: async (statement) => this.#answer(statement) ?? connection.query(statement), release: (error) => connection.release(error) };
  }

  listen: Database['listen'] = (...args) => this.#inner.listen(...args);
  setSessionStatements: Database['setSessionStatements'] = (statements) => this.#inner.setSessionStatements(statements);
  close: Database['close'] = () => this.#inner.close();
}

describe('a start of the store', () => {
  let schema: string;
  beforeEach(() => void (schema = freshSchema()));
  afterEach(() => removeSchema(schema));
  const open = (database: Database) => openPostgresStore(contractSchema, { database, schema, migrations: contractMigrations, queues: ['q'] });
  const isThere = async () => {
    const client = await openClient();
    const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
    await client.end();
    return rowCount === 1;
  };

  it('says which version an old server is, and changes nothing there', async () => {
    const old = new OtherAnswer(({ text }) => (text.includes('server_version_num') ? { rows: [{ number: 130_014, name: '13.14 (Debian 13.14-1)' }], rowCount: 1, command: 'SELECT' } : null));
    await expect(open(old)).rejects.toThrow('it is PostgreSQL 13.14 (Debian 13.14-1); 14 or newer is needed');
    expect(await isThere()).toBe(false);
  });

  it('gives its connections back when it is cut off before its tables are looked at', async () => {
    const cut = new OtherAnswer(({ text }) => {
      if (text.startsWith('SET lock_timeout')) throw new Error('Connection terminated unexpectedly');
      return null;
    });
    // Only after it has closed the database, which waits for every connection.
    await expect(open(cut)).rejects.toThrow('Connection terminated unexpectedly');
  });
});
