import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { MAX_KEYS, shortKey, type Limit, type Limiter, type Limiters } from './limiter.ts';
import { Spans } from './spans.ts';

/** The PostgreSQL store, as the limiters use it. */
export interface CountingStore {
  readonly schemaName: string;
  /** @throws StoreUnavailable when the database cannot be reached */
  runStatement(statement: {
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly name?: string;
  }): Promise<{ readonly rows: readonly object[]; readonly rowCount: number | null }>;
}

/**
 * Counts in the table `counts`, which all processes share, with one statement each and no
 * transaction. A key over its limit is refused from memory until there is room again, so that a
 * flood costs the database nothing. Limits that forgive always ask the database.
 */
export const postgresLimiters =
  (store: CountingStore): Limiters =>
  (limit) => {
    const limiter = libraryLimiter(store, limit);
    return limit.forgives ? limiter : refusingFromMemory(limiter);
  };

function libraryLimiter(store: CountingStore, { name, most, seconds }: Limit): Limiter {
  const query: CountingStore['runStatement'] = (statement) => store.runStatement(statement);
  const limiter = new RateLimiterPostgres({
    storeClient: { query },
    storeType: 'client',
    schemaName: store.schemaName,
    tableName: 'counts',
    tableCreated: true,
    clearExpiredByTimeout: false, // the store sweeps
    keyPrefix: name,
    points: most,
    duration: seconds,
  });
  return {
    async count(key, points = 1) {
      try {
        await limiter.consume(shortKey(key), points);
        return null;
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext;
        throw refusal;
      }
    },
    add: async (key) => (await limiter.penalty(shortKey(key))).consumedPoints,
    takeBack: async (key) => void (await limiter.reward(shortKey(key))),
    clear: async (key) => void (await limiter.delete(shortKey(key))),
  };
}

/** The library can do this too, but without a limit on keys, and it reads all of them each time. */
function refusingFromMemory(limiter: Limiter): Limiter {
  const now = () => performance.now();
  const refused = new Spans(MAX_KEYS, now);
  return {
    ...limiter,
    async count(key, points) {
      const short = shortKey(key);
      const refusal = refused.find(short);
      if (refusal) return refusal.endsAt - now();
      const waitMs = await limiter.count(key, points);
      if (waitMs !== null) refused.put(short, { points: 0, endsAt: Math.ceil(now() + waitMs) });
      return waitMs;
    },
  };
}
