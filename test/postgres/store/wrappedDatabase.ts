import { silent } from '../../../service/src/store/clockAndLog.ts';
import type { Connection, Database } from '../../../service/src/store/postgres/index.ts';
import { PgDatabase } from '../../../service/src/store/postgres/connection/pgDatabase.ts';

/**
 * The real server that DATABASE_URL names; what is asked on its connections goes through the test's
 * hands.
 */
export abstract class WrappedDatabase implements Database {
  readonly kind = 'postgres';
  readonly #inner: PgDatabase;

  constructor(connections: number) {
    this.#inner = new PgDatabase({ url: process.env.DATABASE_URL!, connections, log: silent });
  }

  /**
   * @returns what is asked in place of the connection's own; called for each one that is opened or
   * taken from the pool
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
