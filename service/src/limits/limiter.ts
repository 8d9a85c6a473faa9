import { hash } from 'node:crypto';

/**
 * At most so many in a span of time that begins with the first, for each key.
 * A burst is a longer span: 30 a minute, of which 60 may come at once, are 60 in 120 seconds.
 */
export interface Limit {
  /** Keeps its counts apart from those of other limits. */
  readonly name: string;
  readonly most: number;
  readonly seconds: number;
  /** What was counted may be taken back. */
  readonly forgives?: boolean;
}

export interface Limiter {
  /**
   * Counts one more, or as many as given: bytes, for example. What is refused counts too.
   * @returns null when it is within the limit, else the milliseconds until there is room again
   * @throws StoreUnavailable when the counts are in a database that cannot be reached
   */
  count(key: string, points?: number): Promise<number | null>;
  /**
   * Counts one more and refuses nothing: only of a limit that forgives.
   * @returns how many there are now
   */
  add(key: string): Promise<number>;
  /** One less: only of a limit that forgives. */
  takeBack(key: string): Promise<void>;
  /** As if nothing had been counted: only of a limit that forgives. */
  clear(key: string): Promise<void>;
}

/** Makes the limiter of a limit. */
export type Limiters = (limit: Limit) => Limiter;

/**
 * So many keys a process remembers for each limit: about 8 MB, and more addresses than reach one
 * process in a quarter of an hour. Beyond that, those used longest ago are forgotten: an address
 * that wants to be forgotten must come from 50,000 other addresses first.
 */
export const MAX_KEYS = 50_000;

const KEY_BYTES = 16;

/**
 * What is counted by in place of an address or an e-mail: nobody's is kept, all are equally short,
 * and none holds what a text of PostgreSQL cannot.
 */
export const shortKey = (key: string): string =>
  hash('sha256', key, 'buffer').toString('base64url', 0, KEY_BYTES);
