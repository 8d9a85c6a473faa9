import type { Socket } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import type { Bounds } from '../../limits/bounds.ts';
import { errorAtBound } from './errorAtBound.ts';
import { byAddress } from './rateLimit.ts';

const RETRY_MS = 10_000;
const REFUSAL_BODY = JSON.stringify({
  error: {
    code: 'rate_limited',
    message:
      'Too many connections from one address. Close some, or wait for the number of seconds in Retry-After.',
  },
});
const REFUSAL = [
  'HTTP/1.1 429 Too Many Requests',
  `Retry-After: ${RETRY_MS / 1000}`,
  'Content-Type: application/json; charset=utf-8',
  `Content-Length: ${Buffer.byteLength(REFUSAL_BODY)}`,
  'Connection: close',
  '',
  REFUSAL_BODY,
].join('\r\n');

/** Whether the address belongs to a trusted proxy. */
export type IsProxy = (address: string) => boolean;

/** A connection, or a request that a proxy forwards. Destroying either ends the connection. */
type Open = Socket | Request;

/** For each counted connection or request, the function that stops counting it. */
const stopFunctions = new WeakMap<Open, () => void>();

/**
 * Limits what an address has open: connections, or requests under way where a trusted proxy
 * forwards them. A request with a valid API key, a valid webhook signature or a session does not
 * count, and neither does its connection from then on.
 */
export class Connections {
  readonly #max: number;
  readonly #bounds: Bounds;
  readonly #isProxy: IsProxy;
  /** By address, the oldest first. */
  readonly #openOf = new Map<string, Set<Open>>();

  constructor({ max, bounds, isProxy }: { max: number; bounds: Bounds; isProxy: IsProxy }) {
    this.#max = max;
    this.#bounds = bounds;
    this.#isProxy = isProxy;
  }

  /** For a server's `connection` event. A connection beyond the limit gets 429 and is closed. */
  admit(socket: Socket): void {
    const { remoteAddress = '' } = socket;
    if (this.#max === Infinity || this.#isProxy(remoteAddress)) return;
    if (this.#enter(byAddress({ ip: remoteAddress }), socket, socket)) return;
    this.#bounds.reached('address_connections');
    socket.end(REFUSAL);
    socket.destroySoon();
  }

  /** For requests that a proxy forwards. @throws rate_limited (429) */
  readonly admitRequest: RequestHandler = (request, response, next) => {
    const { ip = '', socket } = request;
    // The proxy's own requests, and those whose client it does not name, do not count.
    if (this.#max === Infinity || this.#isProxy(ip) || !this.#isProxy(socket.remoteAddress ?? ''))
      return next();
    if (this.#enter(byAddress(request), request, response)) return next();
    throw errorAtBound(
      this.#bounds,
      'address_connections',
      'Too many requests from one address are under way.',
      {
        retryAfterMs: RETRY_MS,
      },
    );
  };

  /**
   * Ends connections and requests of the addresses that have the most open, the oldest first. Each
   * address keeps one.
   */
  endSome(count: number): void {
    const largestFirst = [...this.#openOf.values()]
      .filter(({ size }) => size > 1)
      .sort((a, b) => b.size - a.size);
    let left = count;
    for (let size = largestFirst[0]?.size ?? 0; size > 1 && left > 0; size -= 1) {
      for (const open of largestFirst) {
        if (open.size < size || left === 0) break;
        const [oldest] = open;
        open.delete(oldest!);
        oldest!.destroy();
        left -= 1;
      }
    }
  }

  /**
   * Counts a connection or request, unless the address has too many.
   * @param until the entry counts until this closes
   * @returns whether it was counted
   */
  #enter(address: string, entered: Open, until: Socket | Response): boolean {
    const open = this.#openOf.get(address) ?? new Set();
    if (open.size >= this.#max) return false;
    this.#openOf.set(address, open.add(entered));
    const leave = () => {
      stopFunctions.delete(entered);
      open.delete(entered);
      if (open.size === 0 && this.#openOf.get(address) === open) this.#openOf.delete(address);
    };
    stopFunctions.set(entered, leave);
    until.once('close', leave);
    return true;
  }
}

/** Stops counting a request, and its connection: it has a valid key, signature or session. */
export function stopCounting(request: Request): void {
  stopFunctions.get(request)?.();
  stopFunctions.get(request.socket)?.();
}
