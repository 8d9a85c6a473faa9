import { openLowdbStore, type LowdbOptions } from './lowdb/index.ts';
import type { Logger } from './clockAndLog.ts';
import type { PostgresOptions } from './postgres/index.ts';
import type { Schema, Store } from './store.ts';

/** Where the data is, as the environment says. */
export interface StoreLocation {
  readonly dataDir: string;
  /** Null for the embedded store in `dataDir`. The URL contains a password. */
  readonly database: {
    readonly url: string;
    readonly schema: string;
    readonly connections: number;
  } | null;
}

export interface OpenStoreOptions {
  readonly log: Logger;
  /** The names of all queues. */
  readonly queues: readonly string[];
  /** Settings of the embedded store. */
  readonly embedded?: Partial<Omit<LowdbOptions, 'folder' | 'log'>>;
  /** Settings of PostgreSQL. */
  readonly postgres?: Partial<Omit<PostgresOptions, 'database' | 'schema' | 'log' | 'queues'>>;
}

/**
 * Opens the database, or the data folder when no database is set.
 * @throws Error in one line, without a password, that says what to do
 */
export async function openStore<S extends Schema>(
  schema: S,
  { dataDir, database }: StoreLocation,
  { log, queues, embedded, postgres }: OpenStoreOptions,
): Promise<Store<S>> {
  if (database === null) return openFolder(schema, { folder: dataDir, log, ...embedded });
  // Loaded only when used, because the embedded store needs none of its packages.
  const { openPostgresStore, serviceMigrations } = await import('./postgres/index.ts');
  const { url, ...place } = database;
  return openPostgresStore(schema, {
    ...place,
    database: url,
    migrations: serviceMigrations,
    queues,
    log,
    ...postgres,
  });
}

async function openFolder<S extends Schema>(schema: S, options: LowdbOptions): Promise<Store<S>> {
  try {
    return await openLowdbStore(schema, options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined
      ? error
      : new Error(`DATA_DIR ${options.folder} cannot be used: ${message}`, { cause: error });
  }
}

/** Names the store to an operator, without a password. */
export const describeLocation = ({ dataDir, database }: StoreLocation): string =>
  database === null
    ? `the data folder ${dataDir}`
    : `the schema ${database.schema} of the database`;
