import { RateLimiterMemory } from 'rate-limiter-flexible';

/** How often a password may be tried, until one has to wait. */
export interface AttemptLimit {
  /**
   * Counts an attempt before the password is looked at, so that many at once are no way around it.
   * @returns false when there were too many: the password is not looked at then
   */
  admit(...keys: readonly string[]): Promise<boolean>;
  /** The attempt was right: it does not count, and a person is let off their earlier mistakes. */
  forgive(...keys: readonly string[]): Promise<void>;
}

export const LOCKED_SECONDS = 15 * 60;

/** @param most attempts for each of the keys, in their order */
export function limitAttempts(...most: readonly number[]): AttemptLimit {
  const limiters = most.map((points) => new RateLimiterMemory({ points, duration: LOCKED_SECONDS }));
  return {
    async admit(...keys) {
      const counted = await Promise.allSettled(keys.map((key, index) => limiters[index]!.consume(key)));
      return counted.every(({ status }) => status === 'fulfilled');
    },
    async forgive(...keys) {
      await Promise.all(keys.map((key, index) => (index === 0 ? limiters[index]!.delete(key) : limiters[index]!.reward(key))));
    },
  };
}
