import { Batcher } from '../async/batcher.ts';
import type { ServiceStore } from '../../store/collections.ts';
import { MAX_KEYS, shortKey, type Limit, type Limiter, type Limiters } from './limiter.ts';
import { memoryLimiters } from './memoryLimiter.ts';
import { Spans } from './spans.ts';

/** The PostgreSQL store, as the limiters use it. */
export interface CountingStore {
  readonly schemaName: string;
  /** @throws StoreUnavailable when the database cannot be reached */
  runStatement(statement: {
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly name?: string;
  }): Promise<{ readonly rows: readonly object[] }>;
}

/**
 * Counts in the table `counts`, which all processes share. A key over its limit is refused from
 * memory until there is room again, so that a flood costs the database nothing. Limits that forgive
 * always ask the database.
 */
export const postgresLimiters = (store: CountingStore): Limiters => {
  const counts = new SharedCounts(store);
  return (limit) => {
    const limiter = limiterOn(counts, limit);
    return limit.forgives ? limiter : refusingFromMemory(limiter);
  };
};

function limiterOn(counts: SharedCounts, { name, most, seconds }: Limit): Limiter {
  const keyOf = (key: string) => `${name}:${shortKey(key)}`;
  const add = (key: string, points: number) => counts.add({ key: keyOf(key), points, seconds });
  return {
    async count(key, points = 1) {
      const { total, endsAt } = await add(key, points);
      return total <= most ? null : Math.max(0, endsAt - Date.now());
    },
    add: async (key) => (await add(key, 1)).total,
    takeBack: async (key) => void (await add(key, -1)),
    clear: (key) => counts.clear(keyOf(key)),
  };
}

/** After this time, a statement no longer holds up the next one. */
const SLOW_MS = 20;

interface Counted {
  readonly key: string;
  readonly points: number;
  readonly seconds: number;
}

interface Count {
  readonly total: number;
  /** In milliseconds since the epoch. */
  readonly endsAt: number;
}

/** The table of counts. What is added while a statement runs goes into the next statement. */
class SharedCounts {
  readonly #store: CountingStore;
  readonly #table: string;
  readonly #batcher: Batcher<Counted, Count>;

  constructor(store: CountingStore) {
    this.#store = store;
    this.#table = `"${store.schemaName}".counts`;
    this.#batcher = new Batcher({
      run: (counted) => this.#addAll(counted),
      schedule: process.nextTick,
      maxRunning: 1,
      slowMs: SLOW_MS,
    });
  }

  add(counted: Counted): Promise<Count> {
    return this.#batcher.add(counted);
  }

  async clear(key: string): Promise<void> {
    const text = `DELETE FROM ${this.#table} WHERE key = $1`;
    await this.#store.runStatement({ text, values: [key], name: 'cs_counts_clear' });
  }

  /** @returns for each item, the total of its key right after the item was counted */
  async #addAll(counted: readonly Counted[]): Promise<readonly Count[]> {
    // Processes that lock rows in the same order cannot deadlock.
    const keys = [...Map.groupBy(counted, ({ key }) => key)].sort(([a], [b]) => (a < b ? -1 : 1));
    const now = Date.now();
    // `least`: when the wall clock was set back, a span still ends as soon as one that begins now.
    const { rows } = await this.#store.runStatement({
      text: `INSERT INTO ${this.#table} AS c (key, points, expire) SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[])
        ON CONFLICT (key) DO UPDATE SET points = CASE WHEN c.expire <= $4 THEN 0 ELSE greatest(c.points, 0) END + excluded.points,
          expire = CASE WHEN c.expire <= $4 THEN excluded.expire ELSE least(c.expire, excluded.expire) END
        RETURNING key, points, expire::float8 AS expire`,
      values: [
        keys.map(([key]) => key),
        keys.map(([, of]) => of.reduce((sum, { points }) => sum + points, 0)),
        keys.map(([, of]) => now + of[0]!.seconds * 1000),
        now,
      ],
      name: 'cs_counts_add',
    });
    const totals = new Map(
      (rows as readonly { key: string; points: number; expire: number }[]).map((row) => [
        row.key,
        { ...row },
      ]),
    );
    // Backwards: the total of an item leaves out the items after it.
    return counted
      .toReversed()
      .map(({ key, points }) => {
        const row = totals.get(key)!;
        const count = { total: row.points, endsAt: row.expire };
        row.points -= points;
        return count;
      })
      .toReversed();
  }
}

/** Remembers refused keys, so that a flood costs no query until there is room again. */
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

/**
 * Where requests and attempts are counted: in the database when there is one, so that all processes
 * count together. The embedded store has one process alone.
 * @see docs/decisions/0035-what-processes-share.md
 */
export const openLimiters = (store: ServiceStore): Limiters =>
  canCount(store) ? postgresLimiters(store) : memoryLimiters;

const canCount = (store: ServiceStore): store is ServiceStore & CountingStore =>
  'runStatement' in store;
