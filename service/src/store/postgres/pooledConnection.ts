import type pg from 'pg';
import type { Connection, Result, Statement } from './database.ts';
import {
  destroy,
  streamOf,
  type WatchedConnection,
  type ConnectionWatchdog,
} from './connectionWatchdog.ts';

/** The code of statements after a failed one in a transaction. It does not say why. */
const FAILED_BEFORE = '25P02';

/** A connection that is borrowed from the pool. */
export class PooledConnection implements Connection {
  readonly #client: pg.PoolClient;
  readonly #watchdog: ConnectionWatchdog;
  readonly #status: WatchedConnection;
  readonly #onRelease: () => void;
  #failure: Error | null = null;
  #giveBack: (() => void) | null = null;
  #isGathering = false;

  constructor(client: pg.PoolClient, watchdog: ConnectionWatchdog, onRelease: () => void) {
    this.#client = client;
    this.#watchdog = watchdog;
    this.#onRelease = onRelease;
    this.#status = { pending: 0, heardAt: 0, end: () => destroy(client) };
    client.on('error', ignore);
    watchdog.watch(this.#status);
  }

  async query({ text, values, name }: Statement): Promise<Result> {
    if (this.#status.pending === 0) this.#status.heardAt = performance.now();
    this.#status.pending += 1;
    this.#gather();
    try {
      return (await this.#client.query({
        text,
        ...(values && { values: [...values] }),
        ...(name === undefined ? {} : { name }),
      })) as unknown as Result;
    } catch (error) {
      // Of statements that were sent together, the first failure explains the others.
      if ((error as { code?: string }).code === FAILED_BEFORE) throw this.#failure ?? error;
      this.#failure ??= error as Error;
      throw error;
    } finally {
      this.#status.pending -= 1;
      this.#status.heardAt = performance.now();
      if (this.#status.pending === 0) this.#giveBack?.();
    }
  }

  /** Sends the statements of one turn in one packet; each packet costs more than what is in it. */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const stream = streamOf(this.#client);
    stream.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      stream.uncork();
    });
  }

  /** Releases the connection once its statements have ended, even those that no caller awaits. */
  release(error?: Error): void {
    this.#giveBack = () => {
      this.#watchdog.forget(this.#status);
      this.#client.off('error', ignore);
      this.#onRelease();
      this.#client.release(error !== undefined && endsConnection(error));
    };
    if (this.#status.pending === 0) this.#giveBack();
  }
}

/** When a connection breaks between two statements, the next one fails. */
const ignore = (): void => {};

/** After a server's error, which has a severity, the connection can be used unless it was ended. */
const endsConnection = (error: Error): boolean => {
  const { severity } = error as { severity?: string };
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC';
};
