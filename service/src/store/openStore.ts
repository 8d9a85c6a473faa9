import type { LowdbOptions } from './lowdb/index.ts';
import { openLowdbStore } from './lowdb/index.ts';
import type { Logger } from './options.ts';
import type { PostgresOptions } from './postgres/index.ts';
import type { Schema, Store } from './store.ts';

/** What the environment says about where the data is. */
export interface StoreLocation {
  readonly dataDir: string;
  /** Null: the embedded store in `dataDir`. The address holds a password. */
  readonly database: {
    readonly url: string;
    readonly schema: string;
    readonly connections: number;
  } | null;
}

export interface OpenStoreOptions {
  readonly log: Logger;
  /** Every queue that work is put into. */
  readonly queues: readonly string[];
  /** The embedded store's own settings. */
  readonly embedded?: Partial<Omit<LowdbOptions, 'folder' | 'log'>>;
  /** PostgreSQL's own settings. */
  readonly postgres?: Partial<Omit<PostgresOptions, 'database' | 'schema' | 'log' | 'queues'>>;
}

/**
 * Opens the store that the environment names: the database, or the folder when there is none.
 * @throws Error in one line that names DATA_DIR or DATABASE_URL when it cannot be used, never with
 * a password
 */
export async function openStore<S extends Schema>(
  schema: S,
  { dataDir, database }: StoreLocation,
  { log, queues, embedded, postgres }: OpenStoreOptions,
): Promise<Store<S>> {
  if (database === null) return openFolder(schema, { folder: dataDir, log, ...embedded });
  // Loaded only where it is used: the embedded store needs none of its packages.
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

/** The place in words that an operator knows, without a password. */
export const describeLocation = ({ dataDir, database }: StoreLocation): string =>
  database === null
    ? `the data folder ${dataDir}`
    : `the schema ${database.schema} of the database`;
