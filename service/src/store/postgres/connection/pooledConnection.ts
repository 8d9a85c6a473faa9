import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Connection, Result, Statement } from './database.ts';

/** When a statement takes longer than this, the watchdog asks whether the server answers at all. */
const SILENT_MS = 5_000;
const CHECK_MS = 1_000;
const PROBE_MS = 5_000;
/** The code of statements after a failed one in a transaction. It does not say why. */
const FAILED_BEFORE = '25P02';

/** Statements under way on one connection. */
interface WatchedConnection {
  pending: number;
  /** When the server last answered, or was first asked, in steady milliseconds. */
  heardAt: number;
  /** Ends the connection, which fails its statements. */
  readonly end: () => void;
}

/**
 * Finds a server that keeps its connections open and no longer answers: stopped, swapping or cut
 * off. TCP would notice after a quarter of an hour. A statement that is merely slow is left alone.
 */
export class ConnectionWatchdog {
  readonly #config: pg.ClientConfig;
  readonly #onUnresponsive: () => void;
  readonly #watched = new Set<WatchedConnection>();
  #timer: NodeJS.Timeout | null = null;
  #probing = false;

  /**
   * @param onUnresponsive called when the server does not answer, before its connections are ended
   */
  constructor(config: pg.ClientConfig, onUnresponsive: () => void) {
    this.#config = config;
    this.#onUnresponsive = onUnresponsive;
  }

  watch(connection: WatchedConnection): void {
    this.#watched.add(connection);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  forget(connection: WatchedConnection): void {
    this.#watched.delete(connection);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #check(): Promise<void> {
    const silentSince = performance.now() - SILENT_MS;
    if (this.#probing || ![...this.#watched].some((each) => isSilent(each, silentSince))) return;
    this.#probing = true;
    try {
      if (await answers(this.#config)) return;
      this.#onUnresponsive();
      for (const each of this.#watched) if (isSilent(each, silentSince)) each.end();
    } finally {
      this.#probing = false;
    }
  }
}

const isSilent = ({ pending, heardAt }: WatchedConnection, since: number): boolean =>
  pending > 0 && heardAt < since;

/** Asks on a new connection. A server that refuses it has answered. */
async function answers(config: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({
    ...config,
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    return (error as { severity?: string }).severity !== undefined;
  } finally {
    destroy(client);
  }
}

/** Closes the socket at once; the protocol's goodbye would wait for running statements. */
export const destroy = (client: pg.ClientBase): void => void streamOf(client).destroy();

/** The socket that the driver writes to, plain or TLS. */
const streamOf = (client: pg.ClientBase): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream;

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
      this.#onRelease();
      this.#client.release(error !== undefined && endsConnection(error));
    };
    if (this.#status.pending === 0) this.#giveBack();
  }
}

/** After a server's error, which has a severity, the connection can be used unless it was ended. */
const endsConnection = (error: Error): boolean => {
  const { severity } = error as { severity?: string };
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC';
};
