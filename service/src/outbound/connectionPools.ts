import { Agent, Client, Pool, type Dispatcher } from 'undici';
import type { GuardedConnector, Opening } from './guardedConnector.ts';

/** A handler that learns which connection its request was given to. */
export interface PooledHandler extends Dispatcher.DispatchHandler {
  /** The request no longer needs an answer: it ended while it waited for a connection. */
  readonly settled: boolean;
  /** A connection is free (or about to be opened) and the request goes to it now. */
  onConnectionAssigned(connection: PooledConnection): void;
}

/** A connection of a pool, open or being opened. */
export interface PooledConnection {
  /** Gives up a connection that is still being opened. */
  abandon(reason: Error): void;
}

interface Link {
  /** Until it is connected. */
  opening?: Opening;
  /** As of `performance.now()`; not set while there is none, or one that takes its last request. */
  openedAt?: number;
}

type Connect = (...args: Tail<Parameters<GuardedConnector>>) => Opening;
type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer Rest]
  ? Rest
  : never;

/** One connection of a pool. undici's own gives no way to give up a connect that takes too long. */
class Connection extends Client implements PooledConnection {
  readonly #link: Link;
  readonly #maxAgeMs: number;

  constructor(origin: string | URL, options: Client.Options, connect: Connect, maxAgeMs: number) {
    const link: Link = {};
    super(origin, {
      ...options,
      connect: (connectOptions, callback) => {
        link.opening = connect(connectOptions, (...result) => {
          delete link.opening;
          link.openedAt = performance.now();
          callback(...result);
        });
      },
    });
    this.#link = link;
    this.on('disconnect', () => delete link.openedAt);
    this.#maxAgeMs = maxAgeMs;
  }

  abandon(reason: Error) {
    this.#link.opening?.destroy(reason);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: PooledHandler): boolean {
    // A request that ended in the queue takes no connection.
    if (handler.settled) return true;
    handler.onConnectionAssigned(this);
    const free = super.dispatch(this.#takeOld() ? { ...options, reset: true } : options, handler);
    // One that undici refused outright never occupied this connection, which undici does not tell
    // its pool.
    return free || handler.settled;
  }

  /**
   * An old connection takes one request more and is closed; the next one is opened to an address
   * checked anew.
   */
  #takeOld(): boolean {
    const { openedAt } = this.#link;
    if (openedAt === undefined || performance.now() - openedAt < this.#maxAgeMs) return false;
    delete this.#link.openedAt;
    return true;
  }
}

const KIBIBYTE = 1024;
export const MAX_HEADER_BYTES = 16 * KIBIBYTE;

export interface PoolLimits {
  /** Connections of one workspace to one origin, at most; further requests wait. */
  connectionsPerOrigin: number;
  /**
   * After this time a connection in steady use is replaced, so that a name that moved is followed.
   */
  maxConnectionAgeMs: number;
}

/** What an unused connection lives at most, whatever the receiver offers. */
const MAX_IDLE_MS = 30_000;

/** Workspaces whose pools are kept; of others the one that called nothing for longest is closed. */
const MAX_WORKSPACES = 256;

/**
 * Keep-alive pools, made on first use and closed with their last connection. Each workspace has its
 * own, one an origin: its requests that hang take no connection from another workspace that calls
 * the same origin.
 */
export class ConnectionPools {
  readonly #connector: GuardedConnector;
  readonly #limits: PoolLimits;
  readonly #agents = new Map<string, Agent>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(connector: GuardedConnector, limits: PoolLimits) {
    this.#connector = connector;
    this.#limits = limits;
  }

  of(workspaceId: string): Dispatcher {
    const agent =
      this.#agents.get(workspaceId) ??
      createPools((...args) => this.#connector(workspaceId, ...args), this.#limits);
    this.#agents.delete(workspaceId);
    this.#agents.set(workspaceId, agent);
    // A closed one refuses every request.
    if (this.#isClosed || this.#agents.size > MAX_WORKSPACES) this.#closeOldest();
    return agent;
  }

  /** Lets running requests end, then closes every connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#agents.size > 0) this.#closeOldest();
    await Promise.all(this.#closing);
  }

  #closeOldest(): void {
    const [[workspaceId, agent] = []] = this.#agents;
    this.#agents.delete(workspaceId!);
    const closed = agent!.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/**
 * They speak HTTP/1.1 and know nothing of proxies. Requests carry their own deadline, so undici's
 * timers are off.
 */
const createPools = (
  connect: Connect,
  { connectionsPerOrigin, maxConnectionAgeMs }: PoolLimits,
): Agent =>
  new Agent({
    allowH2: false,
    connections: connectionsPerOrigin,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    factory: (origin, options) =>
      new Pool(origin, {
        ...(options as Pool.Options),
        factory: (clientOrigin, clientOptions) =>
          new Connection(
            clientOrigin,
            clientOptions as Client.Options,
            connect,
            maxConnectionAgeMs,
          ),
      }),
  });
