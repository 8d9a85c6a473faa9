import { hash } from 'node:crypto';
import { remember } from '../remember.ts';

/**
 * A maximum for each key in a span of time that begins with the first count. To allow a burst, use
 * a longer span: 30 a minute with bursts of 60 is 60 in 120 seconds.
 */
export interface Limit {
  /** Separates its counts from those of other limits. */
  readonly name: string;
  readonly most: number;
  readonly seconds: number;
  /** Whether counts may be taken back. */
  readonly forgives?: boolean;
}

export interface Limiter {
  /**
   * Counts one more, or the given points (bytes, for example). What is refused counts too.
   * @returns null within the limit, otherwise the milliseconds until there is room again
   * @throws StoreUnavailable when the counts are in a database that cannot be reached
   */
  count(key: string, points?: number): Promise<number | null>;
  /**
   * Counts one more and refuses nothing. Only for limits that forgive.
   * @returns the count now
   */
  add(key: string): Promise<number>;
  /** Counts one less. Only for limits that forgive. */
  takeBack(key: string): Promise<void>;
  /** Resets the count. Only for limits that forgive. */
  clear(key: string): Promise<void>;
}

/** Makes the limiter of a limit. */
export type Limiters = (limit: Limit) => Limiter;

/**
 * The most keys that a process remembers for each limit: about 8 MB, and more addresses than reach
 * one process in a quarter of an hour. Beyond that, the key used longest ago is forgotten. To be
 * forgotten, an attacker would need 50,000 other addresses.
 */
export const MAX_KEYS = 50_000;

const KEY_BYTES = 16;

/**
 * Replaces an address or an e-mail as the key of a count. The replacement has a fixed length, holds
 * nothing that a PostgreSQL text cannot, and does not show what it replaces.
 */
export const shortKey = (key: string): string =>
  key.length > MAX_REMEMBERED_CHARACTERS ? shorten(key) : shortenOnce(key);

const MAX_REMEMBERED_CHARACTERS = 100;

const shorten = (key: string): string =>
  hash('sha256', key, 'buffer').toString('base64url', 0, KEY_BYTES);

/** Several limits count the same key of a request, so the result is remembered. */
const shortenOnce = remember(1000, shorten);
