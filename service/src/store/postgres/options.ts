import type { Logger, StoreClock } from '../options.ts';
import type { Database } from './database.ts';
import type { Migrations } from './migrations.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database`. Tests pass an open database, which is closed
   * with the store.
   */
  readonly database: string | Database;
  /** Contains the tables; `<schema>_work` contains the queues. Both are created when missing. */
  readonly schema: string;
  /** By name, applied in the order of names. An applied migration never changes. */
  readonly migrations: Migrations;
  /** The names of all queues. */
  readonly queues: readonly string[];
  /** The most connections, besides one that listens. Default 10. */
  readonly connections?: number;
  /** Whether this process does work, or only adds it as an API process does. Default true. */
  readonly works?: boolean;
  /** No other process may have the schema open: for commands that need it alone. Default false. */
  readonly exclusive?: boolean;
  /**
   * Called when another process rewrote all documents, so that this store can no longer be used.
   */
  readonly onRewritten?: (error: Error) => void;
  readonly log?: Logger;
  /** The wall clock for the times of jobs. Default: the system's. */
  readonly clock?: StoreClock;
  /** For tests: replaces the database's clock, in milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  /** How many changes a reader can catch up on. Default 10,000. */
  readonly keptChanges?: number;
  /** The most counts of rate limits. A sweep removes any beyond that, those that end first. */
  readonly maxCounts?: number;
  readonly sweepCountsMs?: number;
}
