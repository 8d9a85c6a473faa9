import { Agent, Client, Pool, type Dispatcher } from 'undici';
import type { Connect, GuardedConnector, Opening } from './guardedConnector.ts';

/** A handler that learns which connection its request was given to. */
export interface PooledHandler extends Dispatcher.DispatchHandler {
  /** Whether the request has ended, perhaps while it waited for a connection. */
  readonly settled: boolean;
  /** Called when a connection is free, or about to be opened, and takes the request. */
  onConnectionAssigned(connection: PooledConnection): void;
}

/** A connection of a pool, open or being opened. */
export interface PooledConnection {
  /** Gives up on opening the connection. */
  abandon(reason: Error): void;
}

/** Apart from `Connection`, because what is passed to `super()` cannot refer to `this`. */
interface ConnectionState {
  /** Set while the connection is being opened. */
  opening?: Opening;
  /**
   * By `performance.now()`. Unset while the connection is not open, and from its last request on.
   */
  openedAt?: number;
}

/** One connection of a pool. undici's own class cannot give up opening it when that takes too long. */
class Connection extends Client implements PooledConnection {
  readonly #state: ConnectionState;
  readonly #maxAgeMs: number;

  constructor(origin: string | URL, options: Client.Options, connect: Connect, maxAgeMs: number) {
    const state: ConnectionState = {};
    super(origin, {
      ...options,
      connect: (connectOptions, callback) => {
        state.opening = connect(connectOptions, (...result) => {
          delete state.opening;
          if (!result[0]) state.openedAt = performance.now();
          callback(...result);
        });
      },
    });
    this.#state = state;
    this.on('disconnect', () => delete state.openedAt);
    this.#maxAgeMs = maxAgeMs;
  }

  abandon(reason: Error) {
    this.#state.opening?.destroy(reason);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: PooledHandler): boolean {
    // A request that ended while it waited takes no connection.
    if (handler.settled) return true;
    handler.onConnectionAssigned(this);
    const isFree = super.dispatch(
      this.#retireWhenOld() ? { ...options, reset: true } : options,
      handler,
    );
    // A request that undici refused outright does not occupy the connection, but `false` would tell
    // undici's pool that it does.
    return isFree || handler.settled;
  }

  /**
   * An old connection takes one more request and is closed. The next connection checks its address
   * again.
   */
  #retireWhenOld(): boolean {
    const { openedAt } = this.#state;
    if (openedAt === undefined || performance.now() - openedAt < this.#maxAgeMs) return false;
    delete this.#state.openedAt;
    return true;
  }
}

const KIBIBYTE = 1024;
export const MAX_HEADER_BYTES = 16 * KIBIBYTE;

interface PoolLimits {
  /** The most connections from one workspace to one origin. Further requests wait. */
  connectionsPerOrigin: number;
  /** A connection of this age is replaced, in case the name has another address now. */
  maxConnectionAgeMs: number;
}

/** How long an unused connection is kept, even if the receiver would keep it longer. */
const MAX_IDLE_MS = 30_000;

/**
 * How many workspaces have pools. Beyond that, the pools that were unused for longest are closed.
 */
const MAX_WORKSPACES = 256;

/**
 * Keep-alive pools, opened on first use and closed with their last connection. Each workspace has
 * its own pool for each origin, so requests that hang take no connection from another workspace.
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
      this.#agents.get(workspaceId) ?? createPools(this.#connector(workspaceId), this.#limits);
    this.#agents.delete(workspaceId);
    this.#agents.set(workspaceId, agent);
    // After `close`, the new agent is closed too, and so refuses every request.
    if (this.#isClosed || this.#agents.size > MAX_WORKSPACES) this.#closeOldest();
    return agent;
  }

  /** Gives later requests new connections, which are checked again. Running requests can finish. */
  renew(): void {
    while (this.#agents.size > 0) this.#closeOldest();
  }

  /** Lets running requests finish, then closes every connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.renew();
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
 * The pools speak HTTP/1.1 and use no proxy. Each request has its own deadline, so undici's timers
 * are off.
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
