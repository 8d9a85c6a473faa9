import type { Schema, Store } from '../store.ts';
import type { PostgresOptions } from './options.ts';

export type { PostgresOptions } from './options.ts';

/**
 * Opens the store in a schema of a PostgreSQL database, which several processes may have open at once.
 * Makes and migrates its tables when that is due.
 * @throws Error in one line that never holds the password, when the database cannot be reached or used
 */
export const openPostgresStore = async <S extends Schema>(_schema: S, _options: PostgresOptions): Promise<Store<S>> => {
  throw new Error('not yet');
};
