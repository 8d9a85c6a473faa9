import type { Logger, StoreClock } from '../options.ts';
import type { Files } from '../../platform/files.ts';
import type { Heap } from './memory/heapWatch.ts';
import type { HolderOf } from './memory/storageUsage.ts';

export interface LowdbOptions {
  /** Created when it is missing. One process at a time. */
  readonly folder: string;
  readonly log?: Logger;
  /** A snapshot is written when the journals exceed this and the last snapshot. Default 64 MiB. */
  readonly snapshotAfterBytes?: number;
  /** How long after a failed snapshot the next one begins. Default 30 s. */
  readonly snapshotRetryMs?: number;
  /** How often a store that cannot write tries again. Default 1 s. */
  readonly retryMs?: number;
  /**
   * When a write has waited this long for the disk, the store accepts nothing more. Default 30 s.
   */
  readonly stalledAfterMs?: number;
  /** How many changes a reader can catch up on. Default 10,000. */
  readonly keptChanges?: number;
  /** The clock of jobs and leases. Default: the system's. */
  readonly clock?: StoreClock;
  /** Returns the holder of a document. Default: documents have no holder. */
  readonly holderOf?: HolderOf;
  /** For tests: file operations that fail. */
  readonly files?: Files;
  /** For tests: a heap that is as full as they want. */
  readonly heap?: Heap;
}
