import type { Logger, StoreClock } from '../lowdb/options.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database` */
  readonly url: string;
  /** Holds the tables; the queues are in `<schema>_work`. Made when it is missing. */
  readonly schema: string;
  /** Open at once, at most, beside one that listens. Default 10. */
  readonly connections?: number;
  readonly log?: Logger;
  /** The wall clock by which callers name the times of jobs. Default: the system's. */
  readonly clock?: StoreClock;
  /** For tests: what stands for the database's clock, in milliseconds since the epoch. Default: the database's own. */
  readonly databaseNow?: () => number;
  /** Takes part in the work: fetches it and sees to what died. Default true; an API process only adds work. */
  readonly works?: boolean;
}
