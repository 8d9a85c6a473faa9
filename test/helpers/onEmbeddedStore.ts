import type { describe, it } from '@jest/globals';
import { testDatabaseUrl } from './storage.ts';

/**
 * For what is about the embedded store itself: its files, its folder, a disk that fails. Left out,
 * visibly, when the tests run on a database: `onEmbeddedStore(it)('refuses a second process on the
 * same folder', …)`. Whole files are named in test/embeddedOnly.mjs.
 */
export const onEmbeddedStore = <B extends typeof describe | typeof it>(block: B): B =>
  testDatabaseUrl() === null ? block : (block.skip as B);
