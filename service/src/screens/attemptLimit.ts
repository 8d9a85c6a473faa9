import type { Limiters } from '../limits/limiter.ts';

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

/** @param most attempts for each of the keys, in their order, over all processes */
export function limitAttempts(limiters: Limiters, name: string, ...most: readonly number[]): AttemptLimit {
  const limits = most.map((points, index) => limiters({ name: `${name}_${index}`, most: points, seconds: LOCKED_SECONDS, forgives: true }));
  return {
    async admit(...keys) {
      const waits = await Promise.all(keys.map((key, index) => limits[index]!.count(key)));
      return waits.every((waitMs) => waitMs === null);
    },
    async forgive(...keys) {
      await Promise.all(keys.map((key, index) => (index === 0 ? limits[index]!.clear(key) : limits[index]!.takeBack(key))));
    },
  };
}
