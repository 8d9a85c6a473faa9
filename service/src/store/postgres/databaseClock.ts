import { TestClock } from 'pg-boss';
import { quoted } from './sql.ts';

/** The database's clock as jobs are measured by: pg-boss's own function, so that both agree. */
export const nowSql = (workSchema: string): string =>
  `floor(extract(epoch FROM ${quoted(workSchema)}.job_now()) * 1000)::bigint`;

/** The database's clock; in tests one that they move. */
export class DatabaseClock {
  /** What pg-boss is given in place of the real clock; undefined: the real one. */
  readonly testClock: TestClock | undefined;
  readonly #now: (() => number) | undefined;
  #shown: number;
  /** The real one's, less this machine's. */
  #offset = 0;

  constructor(now?: () => number) {
    this.#now = now;
    this.#shown = now?.() ?? 0;
    this.testClock = now === undefined ? undefined : new TestClock(this.#shown);
  }

  /** What it says now, as well as this process knows, in milliseconds since the epoch. */
  get estimate(): number {
    return this.#now === undefined ? Date.now() + this.#offset : this.#shown;
  }

  /** What it said a moment ago. */
  learn(now: number): void {
    this.#offset = now - Date.now();
  }

  get isReal(): boolean {
    return this.#now === undefined;
  }

  /** Shows the database what the tests' clock says now. Not inside of a transaction. */
  async sync(): Promise<void> {
    if (this.#now === undefined) return;
    const now = this.#now();
    if (now === this.#shown) return;
    this.#shown = now;
    this.#moving = this.#moving.then(() => this.testClock!.setTime(now));
    await this.#moving;
  }

  #moving: Promise<void> = Promise.resolve();
}
