import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';

/** At most so many in a span of time that begins with the first, for each key. */
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
   * Counts one more.
   * @returns null when it is within the limit, else the milliseconds until there is room again
   * @throws StoreUnavailable when the counts are in a database that cannot be reached
   */
  count(key: string): Promise<number | null>;
  /** One less: only of a limit that forgives. */
  takeBack(key: string): Promise<void>;
  /** As if nothing had been counted: only of a limit that forgives. */
  clear(key: string): Promise<void>;
}

/** Makes the limiter of a limit. */
export type Limiters = (limit: Limit) => Limiter;

/** What the library's limiters do, in our words. */
export const limiterOf = (limiter: RateLimiterAbstract): Limiter => ({
  async count(key) {
    try {
      await limiter.consume(key);
      return null;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext;
      throw refusal;
    }
  },
  takeBack: async (key) => void (await limiter.reward(key)),
  clear: async (key) => void (await limiter.delete(key)),
});
