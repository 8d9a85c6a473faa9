import type pg from 'pg';
import type { Connection, Result, Statement } from './database.ts';
import { destroy, type Asked, type Silence } from './silence.ts';

/** What follows a failed statement in its transaction fails with this, and says nothing of why. */
const FAILED_BEFORE = '25P02';

/** A connection while it is out of the pool. */
export class PooledConnection implements Connection {
  readonly #client: pg.PoolClient;
  readonly #silence: Silence;
  readonly #asked: Asked;
  #failure: Error | null = null;

  constructor(client: pg.PoolClient, silence: Silence) {
    this.#client = client;
    this.#silence = silence;
    this.#asked = { pending: 0, heardAt: 0, end: () => destroy(client) };
    client.on('error', ignore);
    silence.watch(this.#asked);
  }

  async query({ text, values, name }: Statement): Promise<Result> {
    if (this.#asked.pending === 0) this.#asked.heardAt = performance.now();
    this.#asked.pending += 1;
    try {
      return (await this.#client.query({ text, ...(values && { values: [...values] }), ...(name === undefined ? {} : { name }) })) as unknown as Result;
    } catch (error) {
      // Of statements sent without waiting for one another, the first failure is the reason of all.
      if ((error as { code?: string }).code === FAILED_BEFORE) throw this.#failure ?? error;
      this.#failure ??= error as Error;
      throw error;
    } finally {
      this.#asked.pending -= 1;
      this.#asked.heardAt = performance.now();
    }
  }

  release(error?: Error): void {
    this.#silence.forget(this.#asked);
    this.#client.off('error', ignore);
    this.#client.release(error !== undefined && endsConnection(error));
  }
}

/** A connection that breaks between two statements fails the next one. */
const ignore = (): void => {};

/** An error of the server (it has a severity) that did not end the connection leaves it usable. */
const endsConnection = (error: Error): boolean => {
  const { severity } = error as { severity?: string };
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC';
};
