import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { ServiceStore } from '../domain/collections.ts';
import { limiterOf, type Limiters } from './limiter.ts';
import { postgresLimiters, type CountingStore } from './postgresLimiters.ts';

/**
 * Where requests and attempts are counted: in the database when there is one, so that all processes count together.
 * @see docs/decisions/0035
 */
export const openLimiters = (store: ServiceStore): Limiters => (canCount(store) ? postgresLimiters(store) : memoryLimiters);

const canCount = (store: ServiceStore): store is ServiceStore & CountingStore => 'runStatement' in store;

/** Counts in this process alone: the embedded store has no other. */
export const memoryLimiters: Limiters = ({ name, most, seconds }) => limiterOf(new RateLimiterMemory({ keyPrefix: name, points: most, duration: seconds }));
