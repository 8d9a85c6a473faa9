import type { describe, it } from '@jest/globals';
import { testDatabaseUrl } from './storage.ts';

/**
 * For tests of the embedded store itself: its files, its folder, a disk that fails. They show as
 * skipped when the tests run on a database: `onEmbeddedStore(it)('refuses a second process on the
 * same folder', …)`. Whole files are named in test/embeddedOnly.mjs.
 */
export const onEmbeddedStore = <B extends typeof describe | typeof it>(block: B): B =>
  testDatabaseUrl() === null ? block : (block.skip as B);
