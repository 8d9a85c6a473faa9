import type { Duplex } from 'node:stream';
import pg from 'pg';

/** When a statement takes longer, the watchdog asks whether the server answers at all. */
const SILENT_MS = 5_000;
const LOOK_MS = 1_000;
const PROBE_MS = 5_000;

/** Statements under way on one connection. */
export interface WatchedConnection {
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
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  forget(connection: WatchedConnection): void {
    this.#watched.delete(connection);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #look(): Promise<void> {
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
export const streamOf = (client: pg.ClientBase): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream;
