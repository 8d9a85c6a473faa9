import type { Database } from './database.ts';

/** The setting that holds a test's time. */
const TEST_TIME_SETTING = 'conversation_service.now';

/** The database's clock, or one that a test moves. */
export class DatabaseClock {
  /** The clock as SQL, in milliseconds since the epoch. The same within a statement. */
  readonly sql: string;
  readonly #now: (() => number) | undefined;
  /** The test's time that the database has; undefined with the real clock. */
  #testTime: number | undefined;
  /** The database's clock minus this machine's. */
  #offset = 0;

  constructor(now?: () => number) {
    this.#now = now;
    this.sql =
      now === undefined
        ? 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint'
        : `current_setting('${TEST_TIME_SETTING}')::bigint`;
  }

  /** The database's time as this process estimates it, in milliseconds since the epoch. */
  get estimate(): number {
    return this.#testTime ?? Date.now() + this.#offset;
  }

  /** Notes the database's time, which was just read. */
  learn(now: number): void {
    this.#offset = now - Date.now();
  }

  get isReal(): boolean {
    return this.#now === undefined;
  }

  /** Passes the test's time to the database. */
  sync(database: Pick<Database, 'setSessionStatements'>): void {
    const now = this.#now?.();
    if (now === this.#testTime) return;
    this.#testTime = now;
    database.setSessionStatements([`SET ${TEST_TIME_SETTING} = '${now}'`]);
  }
}
