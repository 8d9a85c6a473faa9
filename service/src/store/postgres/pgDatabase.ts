import pg from 'pg';
import type { Logger } from '../options.ts';
import type { Connection, Database } from './database.ts';
import { Busy } from './errors.ts';
import { PooledConnection } from './pooledConnection.ts';
import { enter, type Guard } from './schemaLock.ts';
import { destroy, ConnectionWatchdog } from './connectionWatchdog.ts';

export interface PgOptions {
  readonly url: string;
  readonly connections: number;
  readonly log: Logger;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** No statement of ours takes as long; one that does holds locks that others wait for. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** A process that hangs inside a transaction lets go of its locks after this. */
const IDLE_IN_TRANSACTION_MS = 20_000;
const LOCK_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 10_000;
const RECONNECT_MS = 500;
/** The pool, of whoever waited for a connection of others. */
const WAITED = /timeout exceeded when trying to connect/;
const LISTEN_CHECK_MS = 10_000;
/**
 * Every search of ours has an index. A prepared statement keeps the plan that it was first given:
 * one made while a table was empty would read all of it for each job, until the server's next
 * ANALYZE, however much comes in. Nor is any of them worth compiling.
 */
const PLANS = 'SET enable_seqscan = off; SET jit = off';

/** A server reached through the pg driver. */
export class PgDatabase implements Database {
  readonly kind = 'postgres';
  readonly #config: pg.ClientConfig;
  readonly #connections: number;
  readonly #log: Logger;
  readonly #watchdog: ConnectionWatchdog;
  #pool: pg.Pool;
  #inUse = 0;
  /** Each connection has to have run the last of these. */
  #sessionStatements: readonly string[] = [];
  readonly #prepared = new WeakMap<object, readonly string[]>();
  #guard: Guard | null = null;
  readonly #passed = new WeakMap<object, Guard>();

  constructor({ url, connections, log }: PgOptions) {
    this.#log = log;
    this.#connections = connections;
    this.#config = {
      connectionString: verified(url),
      application_name: 'conversation-service',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Statements that do not need one another's answers are sent without waiting for them.
      pipeline: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
    this.#watchdog = new ConnectionWatchdog(this.#config, () => this.#renew());
    this.#pool = this.#openPool();
  }

  /** @throws Busy when all connections stay in use; what the driver says when none can be opened */
  async connect(): Promise<Connection> {
    const client = await this.#pool.connect().catch((error: Error) => {
      if (!WAITED.test(error.message) || this.#inUse < this.#connections) throw error;
      throw new Busy(`all ${this.#connections} connections to the database are in use`, {
        cause: error,
      });
    });
    this.#inUse += 1;
    const connection = new PooledConnection(client, this.#watchdog, () => (this.#inUse -= 1));
    try {
      await this.#prepare(client, connection);
    } catch (error) {
      connection.release(error as Error);
      throw error;
    }
    return connection;
  }

  async #prepare(client: pg.PoolClient, connection: Connection): Promise<void> {
    if (
      this.#sessionStatements.length > 0 &&
      this.#prepared.get(client) !== this.#sessionStatements
    ) {
      this.#prepared.set(client, this.#sessionStatements);
      for (const statement of this.#sessionStatements) await client.query(statement);
    }
    const guard = this.#guard;
    if (guard === null || this.#passed.get(client) === guard) return;
    await guard.pass(connection);
    this.#passed.set(client, guard);
  }

  async listen(
    channel: string,
    onNotification: (payload: string) => void,
    onConnect: () => void,
    exclusive = false,
  ): Promise<() => Promise<void>> {
    let stopped = false;
    let current: pg.Client | null = null;
    let timer: NodeJS.Timeout | undefined;
    const again = () => {
      if (!stopped) timer = setTimeout(() => void open().catch(again), RECONNECT_MS);
    };
    const open = async () => {
      const client = new pg.Client({
        ...this.#config,
        idle_in_transaction_session_timeout: 0,
        query_timeout: CONNECT_TIMEOUT_MS,
      });
      let check: NodeJS.Timeout | undefined;
      let isOpen = false;
      const lose = () => {
        if (!isOpen) return; // not yet, or not any more
        isOpen = false;
        clearTimeout(check);
        current = null;
        destroy(client);
        if (!stopped)
          this.#log.warn('the connection for notifications was lost; it is opened again');
        again();
      };
      /** A peer that vanished without a word is found out. */
      const look = () => {
        check = setTimeout(
          () => void client.query('SELECT 1').then(look, lose),
          LISTEN_CHECK_MS,
        ).unref();
      };
      client.on('error', lose);
      client.on('end', lose);
      client.on('notification', ({ payload }) => onNotification(payload ?? ''));
      try {
        await client.connect();
        await enter(client, channel, exclusive);
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      } catch (error) {
        destroy(client);
        throw error;
      }
      if (stopped) return void client.end();
      isOpen = true;
      current = client;
      look();
      onConnect();
    };
    await open();
    return async () => {
      stopped = true;
      clearTimeout(timer);
      const client = current;
      current = null;
      await client?.end().catch(() => {});
    };
  }

  setSessionStatements(statements: readonly string[]): void {
    this.#sessionStatements = statements;
  }

  setGuard(guard: Guard): void {
    this.#guard = guard;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #openPool(): pg.Pool {
    const pool = new pg.Pool({ ...this.#config, max: this.#connections, allowExitOnIdle: true });
    // An idle connection that breaks is thrown away by the pool; the next one is opened when it is
    // needed.
    pool.on('error', () => {});
    // Sent ahead of whatever the connection was opened for; a connection that breaks over it fails
    // that as well.
    pool.on('connect', (client) => void client.query(PLANS).catch(() => {}));
    return pool;
  }

  /**
   * What was opened before a silence may be dead without a word: from now on other connections are
   * used.
   */
  #renew(): void {
    const old = this.#pool;
    this.#pool = this.#openPool();
    old.end().catch(() => {});
  }
}

/**
 * An address that asks for TLS gets a server whose certificate is checked. The driver takes these
 * modes as that too, with nine lines at each start about what its next version will do. `no-verify`
 * is left as it is.
 */
const verified = (url: string): string =>
  /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
