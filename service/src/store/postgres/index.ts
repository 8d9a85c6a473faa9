import { silent } from '../lowdb/options.ts';
import type { Schema } from '../store.ts';
import { inWords } from './errors.ts';
import type { PostgresOptions } from './options.ts';
import { PgDatabase } from './pgDatabase.ts';
import { PostgresStore } from './postgresStore.ts';

export { serviceMigrations } from './versions/index.ts';
export type { Connection, Database, Result } from './database.ts';
export { baseTables, createTable, type Migrations } from './migrations.ts';
export type { PostgresOptions } from './options.ts';
export type { PostgresStore } from './postgresStore.ts';

const DEFAULT_CONNECTIONS = 10;

/**
 * Opens the store in a schema of a PostgreSQL database, which several processes may have open at once.
 * Makes and migrates its tables when that is due.
 * @throws Error in one line that never holds the password, when the database cannot be reached or used
 */
export const openPostgresStore = async <S extends Schema>(schema: S, options: PostgresOptions): Promise<PostgresStore<S>> => {
  const { database: given, connections = DEFAULT_CONNECTIONS, log = silent } = options;
  const database = typeof given === 'string' ? new PgDatabase({ url: given, connections, log }) : given;
  try {
    return await PostgresStore.open(schema, database, options);
  } catch (error) {
    await database.close().catch(() => {});
    throw typeof given === 'string' ? new Error(`The database at ${placeOf(given)} cannot be used: ${inWords(error)}`, { cause: error }) : error;
  }
};

/** Host, port and database of an address; nothing that could be a password. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname || 'localhost'}:${port || '5432'}${pathname}`;
}
