import type { Logger, StoreClock } from '../options.ts';
import type { Files } from './files.ts';
import type { Heap } from './heapWatch.ts';
import type { HolderOf } from './storageUsage.ts';

export interface LowdbOptions {
  /** Made when it is missing. One process at a time. */
  readonly folder: string;
  readonly log?: Logger;
  /**
   * A snapshot is written when the journals have grown past this or past the last snapshot's size.
   * Default 64 MiB.
   */
  readonly snapshotAfterBytes?: number;
  /** How long after a failed snapshot the next one may begin. Default 30 s. */
  readonly snapshotRetryMs?: number;
  /** How often a store that cannot write tries again. Default 1 s. */
  readonly retryMs?: number;
  /**
   * When what is written has waited so long for the disk, nothing more is taken until that is
   * through. Default 30 s.
   */
  readonly stalledAfterMs?: number;
  /** How many changes can be read again after a short absence. Default 10,000. */
  readonly keptChanges?: number;
  /** By which jobs become due and leases end. Default: the system's. */
  readonly clock?: StoreClock;
  /** Among whom the memory is shared. Default: nobody. */
  readonly holderOf?: HolderOf;
  /** For tests: file operations that fail. */
  readonly files?: Files;
  /** For tests: a heap that is as full as they say. */
  readonly heap?: Heap;
}
