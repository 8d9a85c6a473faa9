import type { Socket } from 'node:net';
import { Agent, Client, Pool, type Dispatcher } from 'undici';
import type { GuardedConnector } from './guardedConnector.ts';

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

/** One connection of a pool. undici's own gives no way to give up a connect that takes too long. */
class Connection extends Client implements PooledConnection {
  readonly #link: { opening?: Socket };

  constructor(origin: string | URL, options: Client.Options, connector: GuardedConnector) {
    const link: { opening?: Socket } = {};
    super(origin, {
      ...options,
      connect: (connectOptions, callback) => {
        link.opening = connector(connectOptions, (...result) => {
          delete link.opening;
          callback(...result);
        });
      },
    });
    this.#link = link;
  }

  abandon(reason: Error) {
    this.#link.opening?.destroy(reason);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: PooledHandler): boolean {
    // A request that ended in the queue takes no connection.
    if (handler.settled) return true;
    handler.onConnectionAssigned(this);
    const free = super.dispatch(options, handler);
    // One that undici refused outright never occupied this connection, which undici does not tell its pool.
    return free || handler.settled;
  }
}

const KIBIBYTE = 1024;
export const MAX_HEADER_BYTES = 16 * KIBIBYTE;

export interface PoolLimits {
  /** Connections to one origin, at most; further requests wait. */
  connectionsPerOrigin: number;
}

/**
 * Keep-alive pools, one an origin, made on first use and closed with their last connection.
 * They speak HTTP/1.1 and know nothing of proxies. Requests carry their own deadline, so undici's timers are off.
 */
export const createConnectionPools = (connector: GuardedConnector, { connectionsPerOrigin }: PoolLimits): Agent =>
  new Agent({
    allowH2: false,
    connections: connectionsPerOrigin,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveMaxTimeout: 60_000,
    factory: (origin, options) =>
      new Pool(origin, {
        ...(options as Pool.Options),
        factory: (clientOrigin, clientOptions) =>
          new Connection(clientOrigin, clientOptions as Client.Options, connector),
      }),
  });
