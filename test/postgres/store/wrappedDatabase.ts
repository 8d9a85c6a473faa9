import { silent } from '../../../service/src/store/clockAndLog.ts';
import type { Connection, Database } from '../../../service/src/store/postgres/index.ts';
import { PgDatabase } from '../../../service/src/store/postgres/connection/pgDatabase.ts';

/**
 * The real server that DATABASE_URL names. What the store runs on a pooled connection goes through
 * `wrap`, so that a test can watch, stop or change it.
 */
export abstract class WrappedDatabase implements Database {
  readonly kind = 'postgres';
  readonly #inner: PgDatabase;

  constructor(connections: number) {
    this.#inner = new PgDatabase({ url: process.env.DATABASE_URL!, connections, log: silent });
  }

  /**
   * Runs each time the store takes a connection from the pool.
   * @returns the `query` that the store calls instead of the connection's own
   */
  protected abstract wrap(connection: Connection): Connection['query'];

  async connect(): Promise<Connection> {
    const connection = await this.#inner.connect();
    return { query: this.wrap(connection), release: (error) => connection.release(error) };
  }

  listen: Database['listen'] = (...args) => this.#inner.listen(...args);
  setSessionStatements: Database['setSessionStatements'] = (statements) =>
    this.#inner.setSessionStatements(statements);
  setGuard: Database['setGuard'] = (guard) => this.#inner.setGuard(guard);
  close: Database['close'] = () => this.#inner.close();
}
