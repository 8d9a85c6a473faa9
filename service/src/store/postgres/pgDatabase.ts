import pg from 'pg';
import type { Logger } from '../lowdb/options.ts';
import type { Connection, Database, Result, Statement } from './database.ts';

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
const LISTEN_CHECK_MS = 10_000;

/** A server reached through the pg driver. */
export class PgDatabase implements Database {
  readonly kind = 'postgres';
  readonly #pool: pg.Pool;
  readonly #config: pg.ClientConfig;
  readonly #log: Logger;
  /** Each connection has to have run the last of these. */
  #sessionStatements: readonly string[] = [];
  readonly #prepared = new WeakMap<object, readonly string[]>();

  constructor({ url, connections, log }: PgOptions) {
    this.#log = log;
    this.#config = {
      connectionString: url,
      application_name: 'conversation-service',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    };
    this.#pool = new pg.Pool({ ...this.#config, max: connections, allowExitOnIdle: true });
    // An idle connection that breaks is thrown away by the pool; the next one is opened when it is needed.
    this.#pool.on('error', () => {});
  }

  async connect(): Promise<Connection> {
    const client = await this.#pool.connect();
    const ignore = () => {}; // a connection that breaks between two statements fails the next one
    client.on('error', ignore);
    if (this.#sessionStatements.length > 0 && this.#prepared.get(client) !== this.#sessionStatements) {
      this.#prepared.set(client, this.#sessionStatements);
      for (const statement of this.#sessionStatements) await client.query(statement);
    }
    return {
      query: ({ text, values, name }: Statement) =>
        client.query({ text, ...(values && { values: [...values] }), ...(name === undefined ? {} : { name }) }) as unknown as Promise<Result>,
      release: (error) => {
        client.off('error', ignore);
        client.release(error !== undefined && isBroken(error));
      },
    };
  }

  async listen(channel: string, onNotification: (payload: string) => void, onConnect: () => void): Promise<() => Promise<void>> {
    let stopped = false;
    let current: pg.Client | null = null;
    let timer: NodeJS.Timeout | undefined;
    const again = () => {
      if (!stopped) timer = setTimeout(() => void open().catch(again), RECONNECT_MS);
    };
    const open = async () => {
      const client = new pg.Client({ ...this.#config, idle_in_transaction_session_timeout: 0 });
      let lost = false;
      const lose = () => {
        if (lost) return;
        lost = true;
        clearTimeout(check);
        current = null;
        client.end().catch(() => {});
        if (!stopped) this.#log.warn('the connection for notifications was lost; it is opened again');
        again();
      };
      let check: NodeJS.Timeout | undefined;
      /** A peer that vanished without a word is found out. */
      const look = () => {
        check = setTimeout(() => {
          const late = setTimeout(lose, CONNECT_TIMEOUT_MS);
          client.query('SELECT 1').then(() => (clearTimeout(late), look()), () => (clearTimeout(late), lose()));
        }, LISTEN_CHECK_MS);
        check.unref();
      };
      client.on('error', lose);
      client.on('notification', ({ payload }) => onNotification(payload ?? ''));
      try {
        await client.connect();
        await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      } catch (error) {
        client.off('error', lose);
        client.on('error', () => {});
        client.end().catch(() => {});
        throw error;
      }
      client.on('end', lose);
      if (stopped) return void client.end();
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

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** An error of the server (it has a severity) that did not end the connection leaves it usable. */
const isBroken = (error: Error): boolean => {
  const { severity } = error as { severity?: string };
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC';
};
