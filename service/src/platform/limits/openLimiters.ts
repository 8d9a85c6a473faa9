import type { ServiceStore } from '../../store/collections.ts';
import type { Limiters } from './limiter.ts';
import { memoryLimiters } from './memoryLimiter.ts';
import { postgresLimiters, type CountingStore } from './postgresLimiters.ts';

/**
 * Where requests and attempts are counted: in the database when there is one, so that all processes
 * count together. The embedded store has one process alone.
 * @see docs/decisions/0035-what-processes-share.md
 */
export const openLimiters = (store: ServiceStore): Limiters =>
  canCount(store) ? postgresLimiters(store) : memoryLimiters;

const canCount = (store: ServiceStore): store is ServiceStore & CountingStore =>
  'runStatement' in store;
