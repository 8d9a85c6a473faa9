import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../clockAndLog.ts';
import { StoreUnavailable } from '../../store.ts';
import { runOn, type Database } from './database.ts';
import {
  Busy,
  unreachableMessage,
  inWords,
  isCut,
  isOutage,
  isTooSlow,
  tookTooLong,
  unavailable,
} from './errors.ts';

/** How often to ask whether the database is back. */
const RETRY_MS = 500;
/** How many connections to try, one after the other, when each is cut. */
const MAX_CUT_CONNECTIONS = 8;
/** The pause before the third try. Each further pause is longer by this much. */
const PAUSE_MS = 25;

/** Knows whether the database can be reached and written to, and finds out when it is back. */
export class Outage {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #onEnd: () => void;
  readonly #closing = new AbortController();
  /** In the words of the server or the driver. */
  #reason: string | null = null;

  /** @param onEnd called when the database can be written to again */
  constructor(database: Database, log: Logger, onEnd: () => void) {
    this.#database = database;
    this.#log = log;
    this.#onEnd = onEnd;
  }

  /** Why nothing can be read or written now; null when it can. */
  get reason(): string | null {
    return this.#reason && unreachableMessage(this.#reason);
  }

  /** Stops asking. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * Runs `fn`, and again if its connection is lost although the database answers. `fn` must have no
   * effect when it fails.
   * @throws Busy when all connections are in use
   * @throws StoreUnavailable when the server cannot be reached or takes too long
   */
  async watch<T>(fn: () => Promise<T>): Promise<T> {
    for (let runs = 1; ; runs += 1) {
      try {
        return await fn();
      } catch (error) {
        if (error instanceof Busy) throw error;
        if (isTooSlow(error)) throw tookTooLong(error);
        if (!isOutage(error)) throw error;
        if (this.#reason === null) {
          const reason = await this.#whyNot();
          if (reason === null && runs < MAX_CUT_CONNECTIONS) {
            // A server that is out of connections soon has some again.
            await sleep((runs - 1) * PAUSE_MS);
            continue;
          }
          this.#begin(reason ?? inWords(error));
        }
        throw unavailable(this.reason!, error);
      }
    }
  }

  /** Checks whether the database can be written to, so that an outage shows without requests. */
  async check(): Promise<void> {
    try {
      await this.watch(() => assertWritable(this.#database));
    } catch (error) {
      // The database answers, but accepts no writes.
      if (!(error instanceof StoreUnavailable)) this.#begin(inWords(error));
    }
  }

  #begin(reason: string): void {
    const isNew = this.#reason === null;
    this.#reason = reason;
    if (!isNew || this.#closing.signal.aborted) return;
    this.#log.error(`${this.reason}; nothing can be written until this works again`);
    void this.#heal();
  }

  async #heal(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await sleep(RETRY_MS, undefined, { ref: false, signal }).catch(() => {});
      if (signal.aborted) return;
      this.#reason = await this.#whyNot();
      if (this.#reason !== null) continue;
      this.#log.info('the database can be written to again');
      this.#onEnd();
      return;
    }
  }

  /** @returns why the database cannot be written to; null when it can */
  async #whyNot(): Promise<string | null> {
    for (let asked = 1; ; asked += 1) {
      try {
        await assertWritable(this.#database);
        return null;
      } catch (error) {
        if (isCut(error) && asked < MAX_CUT_CONNECTIONS) continue;
        // Busy says nothing about the database.
        return error instanceof Busy ? this.#reason : inWords(error);
      }
    }
  }
}

/** @throws Error also when the server answers but accepts no writes */
export async function assertWritable(database: Database): Promise<void> {
  const { rows } = await runOn(database, {
    text: `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') AS read_only`,
  });
  const { standby, read_only } = rows[0]!;
  if (standby === true)
    throw new Error(
      'it is a standby, which cannot be written to. Name the primary in DATABASE_URL',
    );
  if (read_only === 'on') throw new Error('it is set to read only (default_transaction_read_only)');
}
