import { TestClock } from 'pg-boss';
import { quoted } from './sql.ts';

/** The database's clock, from pg-boss's function, so that jobs and leases agree. */
export const nowSql = (workSchema: string): string =>
  `floor(extract(epoch FROM ${quoted(workSchema)}.job_now()) * 1000)::bigint`;

/** The database's clock, or one that a test moves. */
export class DatabaseClock {
  /** Replaces pg-boss's clock; undefined for the real one. */
  readonly testClock: TestClock | undefined;
  readonly #now: (() => number) | undefined;
  #shown: number;
  /** The database's clock minus this machine's. */
  #offset = 0;
  #moving: Promise<void> = Promise.resolve();

  constructor(now?: () => number) {
    this.#now = now;
    this.#shown = now?.() ?? 0;
    this.testClock = now === undefined ? undefined : new TestClock(this.#shown);
  }

  /** The database's time as this process estimates it, in milliseconds since the epoch. */
  get estimate(): number {
    return this.#now === undefined ? Date.now() + this.#offset : this.#shown;
  }

  /** Notes the database's time, which was just read. */
  learn(now: number): void {
    this.#offset = now - Date.now();
  }

  get isReal(): boolean {
    return this.#now === undefined;
  }

  /** Passes the test's time to the database. Do not call it inside a transaction. */
  async sync(): Promise<void> {
    if (this.#now === undefined) return;
    const now = this.#now();
    if (now === this.#shown) return;
    this.#shown = now;
    this.#moving = this.#moving.then(() => this.testClock!.setTime(now));
    await this.#moving;
  }
}
