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
  /** By name, in the order of their names; what was applied once is never changed. */
  readonly migrations: Migrations;
  /** Every queue that jobs are put into. */
  readonly queues: readonly string[];
  /** Open at once, at most, beside one that listens. Default 10. */
  readonly connections?: number;
  /**
   * Takes part in the work: sees to what died, too. Default true; an API process only adds work.
   */
  readonly works?: boolean;
  /**
   * Nobody else may have the schema open, or open it meanwhile: for what must not be done beside a
   * running service. Default false.
   */
  readonly exclusive?: boolean;
  /**
   * Called when this store can never be used again: another process rewrote all documents while
   * this one was cut off.
   */
  readonly onRewritten?: (error: Error) => void;
  readonly log?: Logger;
  /** The wall clock by which callers name the times of jobs. Default: the system's. */
  readonly clock?: StoreClock;
  /** For tests: what stands for the database's clock, in milliseconds since the epoch. */
  readonly databaseNow?: () => number;
  /** How many changes can be read again after a short absence. Default 10,000. */
  readonly keptChanges?: number;
  /** Of limits; what ends first is forgotten beyond it, at the next sweep. */
  readonly maxCounts?: number;
  readonly sweepCountsMs?: number;
}
