import type { Low } from 'lowdb';
import type { DumpedRecord } from '../../store.ts';
import type { JournaledAdapter } from '../adapter.ts';
import { inWords, type StoreDamaged } from '../errors.ts';
import type { LowdbOptions } from '../options.ts';
import { snapshotLine } from './snapshot.ts';
import { JOBS, type Data } from '../state.ts';

interface SnapshotsOptions {
  readonly db: Low<Data>;
  readonly adapter: JournaledAdapter;
  readonly options: Required<
    Pick<LowdbOptions, 'folder' | 'files' | 'log' | 'snapshotAfterBytes' | 'snapshotRetryMs'>
  >;
  /** Everything in memory, for when the files cannot be read. */
  readonly dump: () => AsyncIterable<DumpedRecord>;
  /** Closed, or in an outage. */
  readonly isGone: () => boolean;
}

/** Writes snapshots, one at a time. */
export class Snapshots {
  private readonly deps: SnapshotsOptions;
  private running: Promise<unknown> | null = null;
  private notBefore = 0;

  constructor(deps: SnapshotsOptions) {
    this.deps = deps;
  }

  /** Resolves when none is being written. */
  async idle(): Promise<void> {
    while (this.running !== null) await this.running;
  }

  /** Runs `write` in place of a snapshot; no snapshot begins before it has ended. */
  async exclusively<T>(write: () => Promise<T>): Promise<T> {
    // Not `idle()`: nothing may come between the check and the assignment below.
    while (this.running !== null) await this.running;
    const writing = write();
    this.running = writing
      .catch(() => {})
      .finally(() => {
        this.running = null;
      });
    return writing;
  }

  /** Begins one when the journals have grown enough. */
  startWhenDue(): void {
    const { adapter, options, isGone } = this.deps;
    if (this.running !== null || isGone() || performance.now() < this.notBefore) return;
    const { journalBytes, snapshotBytes } = adapter.stats;
    if (journalBytes < Math.max(options.snapshotAfterBytes, snapshotBytes)) return;
    void this.exclusively(() => this.writeOrLog());
  }

  /**
   * Writes two snapshots. The second one removes the files before the first, which contain former
   * versions of documents.
   * @param assertAvailable throws when the store has become unavailable
   */
  async writeTwo(assertAvailable: () => void): Promise<void> {
    const { files, folder } = this.deps.options;
    await this.exclusively(async () => {
      await this.write();
      assertAvailable();
      await this.write();
      await files.syncFolder(folder);
    });
  }

  /** When it fails, the store goes on: all journals are still there. */
  private async writeOrLog(): Promise<void> {
    const { options, isGone } = this.deps;
    try {
      await this.write();
    } catch (error) {
      if (!isGone()) options.log.error(`no snapshot could be written: ${inWords(error)}`);
      this.notBefore = performance.now() + options.snapshotRetryMs;
    }
  }

  private async write(): Promise<void> {
    const { db, adapter, options, dump } = this.deps;
    try {
      await db.write();
    } catch (error) {
      // Checked by name, because the error may come from another thread.
      const { name, file, position } = error as StoreDamaged;
      if (name !== 'StoreDamaged') throw error;
      options.log.error(
        `${file} was damaged at byte ${position} while the store was open, and the next start would be refused; a snapshot of what is in memory is written now`,
      );
      await adapter.writeFrom(linesOf(dump()));
    }
  }
}

async function* linesOf(records: AsyncIterable<DumpedRecord>): AsyncGenerator<string> {
  for await (const record of records) {
    const [collection, document] =
      'job' in record ? [JOBS, record.job] : [record.collection, record.document];
    yield snapshotLine(collection, JSON.stringify(document));
  }
}
