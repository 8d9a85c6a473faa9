import pg from 'pg';
import type { Logger } from '../../clockAndLog.ts';
import type { Connection, Database, Guard } from './database.ts';
import { Busy } from './errors.ts';
import { PooledConnection, destroy, ConnectionWatchdog } from './pooledConnection.ts';
import { lockSchema } from '../schema/schemaLock.ts';

interface PgOptions {
  readonly url: string;
  readonly connections: number;
  readonly log: Logger;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than any of our statements should take, because others may wait for its locks. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** After this time, a process that hangs inside a transaction loses its locks. */
const IDLE_IN_TRANSACTION_MS = 20_000;
const LOCK_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 10_000;
const RECONNECT_MS = 500;
/** The pool's message when no connection becomes free in time. */
const WAITED = /timeout exceeded when trying to connect/;
const LISTEN_CHECK_MS = 10_000;
/**
 * Each of our queries has an index. A prepared statement keeps its first plan: a plan made while a
 * table was empty would read the whole table until the next ANALYZE. Compiling plans (JIT) is
 * not worth it.
 */
const PLANNER_SETTINGS = 'SET enable_seqscan = off; SET jit = off';

/** A server reached through the pg driver. */
export class PgDatabase implements Database {
  readonly kind = 'postgres';
  readonly #config: pg.ClientConfig;
  readonly #connections: number;
  readonly #log: Logger;
  readonly #watchdog: ConnectionWatchdog;
  #pool: pg.Pool;
  #inUse = 0;
  /** Statements to run on each connection before it is used. */
  #sessionStatements: readonly string[] = [];
  /** By connection, the session statements that it has run. */
  readonly #statementsRun = new WeakMap<object, readonly string[]>();
  #guard: Guard | null = null;
  /** By connection, the guard that it has passed. */
  readonly #guardPassed = new WeakMap<object, Guard>();

  constructor({ url, connections, log }: PgOptions) {
    this.#log = log;
    this.#connections = connections;
    this.#config = {
      connectionString: withVerifyFull(url),
      application_name: 'conversation-service',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Statements that do not depend on each other are sent without waiting for answers.
      pipeline: true,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
    this.#watchdog = new ConnectionWatchdog(this.#config, () => this.#renew());
    this.#pool = this.#openPool();
  }

  /**
   * @throws Busy when no connection becomes free in time; the driver's error when none can be
   * opened
   */
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
      await this.#makeReady(client, connection);
    } catch (error) {
      connection.release(error as Error);
      throw error;
    }
    return connection;
  }

  async #makeReady(client: pg.PoolClient, connection: Connection): Promise<void> {
    if (
      this.#sessionStatements.length > 0 &&
      this.#statementsRun.get(client) !== this.#sessionStatements
    ) {
      this.#statementsRun.set(client, this.#sessionStatements);
      for (const statement of this.#sessionStatements) await client.query(statement);
    }
    const guard = this.#guard;
    if (guard === null || this.#guardPassed.get(client) === guard) return;
    await guard(connection);
    this.#guardPassed.set(client, guard);
  }

  async listen(
    channel: string,
    onNotification: (payload: string) => void,
    onConnect: () => void,
    exclusive: boolean,
  ): Promise<() => Promise<void>> {
    let stopped = false;
    let current: pg.Client | null = null;
    let timer: NodeJS.Timeout | undefined;
    const reopenLater = () => {
      if (!stopped) timer = setTimeout(() => void open().catch(reopenLater), RECONNECT_MS);
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
        if (!isOpen) return; // not open yet, or closed
        isOpen = false;
        clearTimeout(check);
        current = null;
        destroy(client);
        if (!stopped)
          this.#log.warn('the connection for notifications was lost; it is being reopened');
        reopenLater();
      };
      /** Finds a server that has vanished without closing the connection. */
      const checkLater = () => {
        check = setTimeout(
          () => void client.query('SELECT 1').then(checkLater, lose),
          LISTEN_CHECK_MS,
        ).unref();
      };
      client.on('error', lose);
      client.on('end', lose);
      client.on('notification', ({ payload }) => onNotification(payload ?? ''));
      try {
        await client.connect();
        await lockSchema(client, channel, exclusive);
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      } catch (error) {
        destroy(client);
        throw error;
      }
      if (stopped) return void client.end();
      isOpen = true;
      current = client;
      checkLater();
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
    // The pool drops an idle connection that breaks.
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      // When a connection breaks while it is borrowed, its next statement fails.
      client.on('error', () => {});
      client.query(PLANNER_SETTINGS).catch(() => {});
    });
    return pool;
  }

  /** Connections opened before the server stopped answering may be dead, so new ones are used. */
  #renew(): void {
    const old = this.#pool;
    this.#pool = this.#openPool();
    old.end().catch(() => {});
  }
}

/**
 * Replaces the TLS modes `prefer`, `require` and `verify-ca` by `verify-full`. The driver treats
 * them alike, but would log nine lines about its next version.
 */
const withVerifyFull = (url: string): string =>
  /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
