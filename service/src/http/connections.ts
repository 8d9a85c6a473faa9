import type { Socket } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { Bounds } from '../limits/bounds.ts';
import { atBound } from './atBound.ts';
import { byAddress } from './rateLimit.ts';

const RETRY_MS = 10_000;
const REFUSAL_BODY = JSON.stringify({ error: { code: 'rate_limited', message: 'Too many connections from one address. Close some, or wait for the seconds that Retry-After names.' } });
const REFUSAL = [
  'HTTP/1.1 429 Too Many Requests',
  `Retry-After: ${RETRY_MS / 1000}`,
  'Content-Type: application/json; charset=utf-8',
  `Content-Length: ${Buffer.byteLength(REFUSAL_BODY)}`,
  'Connection: close',
  '',
  REFUSAL_BODY,
].join('\r\n');

/** Whether the address is a trusted proxy's. */
export type IsProxy = (address: string) => boolean;

/**
 * Counts what strangers have open at once, by address: connections, or requests under way where a proxy
 * of ours brings them over connections of its own. Who shows a valid key, a verified delivery or a
 * session is counted no more: not this request, and not its connection.
 */
export class Connections {
  readonly #max: number;
  readonly #bounds: Bounds;
  readonly #isProxy: IsProxy;
  readonly #openBy = new Map<string, number>();
  /** Of strangers who come straight here, by address; the oldest first. */
  readonly #socketsOf = new Map<string, Set<Socket>>();

  constructor({ max, bounds, isProxy }: { max: number; bounds: Bounds; isProxy: IsProxy }) {
    this.#max = max;
    this.#bounds = bounds;
    this.#isProxy = isProxy;
  }

  /** For a server's 'connection' event: answers one too many with 429, and closes it. */
  admit(socket: Socket): void {
    const { remoteAddress = '' } = socket;
    if (this.#max === Infinity || this.#isProxy(remoteAddress)) return;
    const address = byAddress({ ip: remoteAddress });
    const leave = this.#enter(address);
    if (leave) {
      this.#socketsOf.set(address, (this.#socketsOf.get(address) ?? new Set()).add(socket));
      return countUntil(socket, () => (leave(), this.#forget(address, socket)), socket);
    }
    this.#bounds.reached('address_connections');
    socket.end(REFUSAL);
    socket.destroySoon();
  }

  /** For requests that a proxy brings. @throws rate_limited (429) */
  readonly admitRequest: RequestHandler = (request, response, next) => {
    const { ip = '', socket } = request;
    // What a proxy sends in its own name, or does not say whose it is.
    if (this.#max === Infinity || this.#isProxy(ip) || !this.#isProxy(socket.remoteAddress ?? '')) return next();
    const leave = this.#enter(byAddress(request));
    if (!leave) throw atBound(this.#bounds, 'address_connections', 'Too many requests of one address are under way.', { retryAfterMs: RETRY_MS });
    countUntil(response, leave, request);
    next();
  };

  /** Ends so many of strangers' connections: the oldest of the addresses that have the most, never an address's only one. */
  endSome(count: number): void {
    const most = [...this.#socketsOf.values()].sort((a, b) => b.size - a.size);
    let left = count;
    for (let size = most[0]?.size ?? 0; size > 1 && left > 0; size -= 1) {
      for (const sockets of most) {
        if (sockets.size < size || left === 0) break;
        const [oldest] = sockets;
        sockets.delete(oldest!);
        oldest!.destroy();
        left -= 1;
      }
    }
  }

  #forget(address: string, socket: Socket): void {
    const sockets = this.#socketsOf.get(address);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#socketsOf.delete(address);
  }

  #enter(address: string): (() => void) | null {
    const open = this.#openBy.get(address) ?? 0;
    if (open >= this.#max) return null;
    this.#openBy.set(address, open + 1);
    return () => {
      const left = this.#openBy.get(address)! - 1;
      if (left === 0) this.#openBy.delete(address);
      else this.#openBy.set(address, left);
    };
  }
}

/** How to count a connection, or a request, no more. */
const counted = new WeakMap<object, () => void>();

function countUntil(closing: { once(event: 'close', listener: () => void): unknown }, leave: () => void, of: object): void {
  const once = () => {
    if (counted.delete(of)) leave();
  };
  counted.set(of, once);
  closing.once('close', once);
}

/** The request has shown whose it is. */
export function noLongerStranger(request: Request): void {
  counted.get(request)?.();
  counted.get(request.socket)?.();
}
