import type { Logger, StoreClock } from '../options.ts';
import type { Database } from './database.ts';
import type { Migrations } from './migrations.ts';

export interface PostgresOptions {
  /**
   *  `postgres://user:password@host:5432/database`, or an open database (for tests; closed with the store).
   */
  readonly database: string | Database;
  /** Holds the tables; the queues are in `<schema>_work`. Made when it is missing. */
  readonly schema: string;
  /** By name, applied in the order of names. An applied migration never changes. */
  readonly migrations: Migrations;
  /** All queues. */
  readonly queues: readonly string[];
  /** At most, beside one that listens. Default 10. */
  readonly connections?: number;
  /** Whether this process does work, or only adds it as an API process does. Default true. */
  readonly works?: boolean;
  /** No other process may have the schema open: for commands that need it alone. Default false. */
  readonly exclusive?: boolean;
  /** Called when another process rewrote all documents, so that this store is of no use any more. */
  readonly onRewritten?: (error: Error) => void;
  readonly log?: Logger;
  /** The wall clock of jobs' times. Default: the system's. */
  readonly clock?: StoreClock;
  /** For tests: replaces the database's clock, in milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  /** How many changes a reader can catch up on. Default 10,000. */
  readonly keptChanges?: number;
  /** Counts of rate limits. Beyond that, a sweep removes those that end first. */
  readonly maxCounts?: number;
  readonly sweepCountsMs?: number;
}
