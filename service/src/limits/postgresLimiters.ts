import { createHash } from 'node:crypto';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { limiterOf, type Limiters } from './limiter.ts';

/** What is counted in a PostgreSQL store. */
export interface CountingStore {
  readonly schemaName: string;
  /** @throws StoreUnavailable when the database cannot be reached */
  runStatement(statement: { readonly text: string; readonly values?: readonly unknown[]; readonly name?: string }): Promise<{ readonly rows: readonly object[]; readonly rowCount: number | null }>;
}

/**
 * Counts in the table `counts`, which all processes share: one statement each, no transaction around it.
 * Whoever is over a limit that forgives nothing is refused from memory until there is room again, so that
 * a flood costs the database nothing.
 */
export const postgresLimiters =
  (store: CountingStore): Limiters =>
  ({ name, most, seconds, forgives = false }) => {
    const limiter = limiterOf(
      new RateLimiterPostgres({
        storeClient: { query: (statement: Parameters<CountingStore['runStatement']>[0]) => store.runStatement(statement) },
        storeType: 'client',
        schemaName: store.schemaName,
        tableName: 'counts',
        tableCreated: true,
        clearExpiredByTimeout: false, // the store sweeps
        keyPrefix: name,
        points: most,
        duration: seconds,
        ...(forgives ? {} : { inMemoryBlockOnConsumed: most }),
      }),
    );
    return { count: (key) => limiter.count(hidden(key)), takeBack: (key) => limiter.takeBack(hidden(key)), clear: (key) => limiter.clear(hidden(key)) };
  };

/** Nobody's address or e-mail is kept to count by, and no key is too long or holds what a text of PostgreSQL cannot. */
const hidden = (key: string): string => createHash('sha256').update(key).digest('base64url');
