import { silent, systemTime, type Logger, type StoreClock } from '../clockAndLog.ts';
import { nodeFiles, type Files } from '../../platform/files.ts';
import type { Heap } from './memory/heapWatch.ts';
import type { HolderOf } from './memory/storageUsage.ts';

export interface LowdbOptions {
  /** Created when it is missing. One process at a time. */
  readonly folder: string;
  readonly log?: Logger;
  /** A snapshot is written when the journals are larger than this and than the last snapshot. */
  readonly snapshotAfterBytes?: number;
  /** How long after a failed snapshot the next one begins. */
  readonly snapshotRetryMs?: number;
  /** How often a store that cannot write tries again. */
  readonly retryMs?: number;
  /**
   * When a write has waited this long for the disk, the store accepts nothing more.
   */
  readonly stalledAfterMs?: number;
  /** How many changes a reader can catch up on. */
  readonly keptChanges?: number;
  /** The clock of jobs and leases. Default: the system's. */
  readonly clock?: StoreClock;
  /** Returns the holder of a document. Default: documents have no holder. */
  readonly holderOf?: HolderOf;
  /** Whether words are indexed from the start, instead of at the first search. */
  readonly indexesWords?: boolean;
  /** For tests: file operations that fail. */
  readonly files?: Files;
  /** For tests: a heap that is as full as they want. */
  readonly heap?: Heap;
}

export const DEFAULTS = {
  snapshotAfterBytes: 64 << 20,
  snapshotRetryMs: 30_000,
  retryMs: 1_000,
  stalledAfterMs: 30_000,
  keptChanges: 10_000,
  log: silent,
  clock: systemTime,
  holderOf: () => null,
  indexesWords: true,
  files: nodeFiles,
};
