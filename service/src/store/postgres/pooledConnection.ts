import type pg from 'pg';
import type { Connection, Result, Statement } from './database.ts';
import {
  destroy,
  streamOf,
  type WatchedConnection,
  type ConnectionWatchdog,
} from './connectionWatchdog.ts';

/** What follows a failed statement in its transaction fails with this, and says nothing of why. */
const FAILED_BEFORE = '25P02';

/** A connection while it is out of the pool. */
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
      // Of statements sent without waiting for one another, the first failure is the reason of all.
      if ((error as { code?: string }).code === FAILED_BEFORE) throw this.#failure ?? error;
      this.#failure ??= error as Error;
      throw error;
    } finally {
      this.#status.pending -= 1;
      this.#status.heardAt = performance.now();
      if (this.#status.pending === 0) this.#giveBack?.();
    }
  }

  /**
   * What is sent in the same breath leaves in one piece: each that leaves costs the system more
   * than what it holds.
   */
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

  /** What is still under way on it comes to its end first: nobody is waiting for it any more. */
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

/** A connection that breaks between two statements fails the next one. */
const ignore = (): void => {};

/** An error of the server (it has a severity) that did not end the connection leaves it usable. */
const endsConnection = (error: Error): boolean => {
  const { severity } = error as { severity?: string };
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC';
};
