import type { RequestHandler, Response } from 'express';
import type { Bounds } from '../../limits/bounds.ts';
import { callerOf } from '../caller.ts';
import { byAddress } from './rateLimit.ts';

export interface UnreadLimits {
  /** How long a reader may take to read an answer: enough for 2 MB over a slow line. */
  readonly takenWithinMs: number;
  /** How often the service looks for answers that have exceeded this time. */
  readonly lookEveryMs: number;
  /**
   * The memory for all unread answers to callers without a key. Usually, answers are read at once.
   */
  readonly maxBytes: number;
}

export const UNREAD_LIMITS: UnreadLimits = {
  takenWithinMs: 120_000,
  lookEveryMs: 5000,
  maxBytes: 64 << 20,
};

interface Unread {
  readonly address: string;
  readonly bytes: number;
  readonly since: number;
}

/**
 * Limits the answers that wait in memory because their readers are slow. An answer that waits too
 * long is destroyed with its connection. When the answers to callers without a key hold too much
 * memory, the oldest answer of the address that holds the most is destroyed. Streams are not
 * counted: they write no more than their readers take.
 */
export class UnreadAnswers {
  readonly #bounds: Bounds;
  readonly #limits: UnreadLimits;
  /** The oldest first. */
  readonly #unread = new Map<Response, Unread>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(bounds: Bounds, limits = UNREAD_LIMITS) {
    this.#bounds = bounds;
    this.#limits = limits;
  }

  readonly watch: RequestHandler = (request, response, next) => {
    response.once('prefinish', () => {
      const left = response.writableLength;
      if (left === 0) return;
      const caller = callerOf(response);
      const isWithoutKey = caller === undefined || caller.contact !== null;
      // `writableLength` may count characters instead of bytes.
      const bytes = Math.max(left, Number(response.getHeader('content-length') ?? 0));
      this.#add(response, {
        address: byAddress(request),
        bytes: isWithoutKey ? bytes : 0,
        since: performance.now(),
      });
    });
    next();
  };

  #add(response: Response, unread: Unread): void {
    this.#unread.set(response, unread);
    this.#count(unread, unread.bytes);
    response.once('close', () => this.#forget(response));
    this.#timer ??= setInterval(() => this.#endLate(), this.#limits.lookEveryMs).unref();
    while (this.#bytes > this.#limits.maxBytes) this.#end(this.#oldestOf(this.#largest())!);
  }

  #forget(response: Response): void {
    const unread = this.#unread.get(response);
    if (!unread) return;
    this.#unread.delete(response);
    this.#count(unread, -unread.bytes);
    if (this.#unread.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #count({ address }: Unread, bytes: number): void {
    this.#bytes += bytes;
    const total = (this.#bytesOf.get(address) ?? 0) + bytes;
    if (total === 0) this.#bytesOf.delete(address);
    else this.#bytesOf.set(address, total);
  }

  #endLate(): void {
    const lateSince = performance.now() - this.#limits.takenWithinMs;
    for (const [response, { since }] of this.#unread) {
      if (since > lateSince) return;
      this.#end(response);
    }
  }

  #end(response: Response): void {
    this.#bounds.reached('unread_answers');
    this.#forget(response);
    response.destroy();
  }

  /** The address whose answers hold the most. */
  #largest(): string {
    let [largest, most] = ['', 0];
    for (const [address, bytes] of this.#bytesOf)
      if (bytes > most) [largest, most] = [address, bytes];
    return largest;
  }

  #oldestOf(address: string): Response | undefined {
    for (const [response, unread] of this.#unread)
      if (unread.address === address && unread.bytes > 0) return response;
    return undefined;
  }
}
