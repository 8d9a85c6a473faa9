import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Adapter } from 'lowdb';
import type { FileStats } from '../store.ts';
import { HighWaterMark } from './journal/highWaterMark.ts';
import { cutFile, nodeFiles, withFile } from '../../platform/files.ts';
import {
  FIRST_GENERATION,
  TEMPORARY,
  journalName,
  snapshotName,
  tidyFolder,
} from './journal/folder.ts';
import type { JournalOptions, JournalPosition } from './journal/journal.ts';
import { Journal, createJournal } from './journal/journal.ts';
import type { Logger } from '../clockAndLog.ts';
import type { Recovered } from './journal/recovery.ts';
import { recover } from './journal/recovery.ts';
import {
  fallbackWarning,
  inParts,
  writeSnapshot,
  type SnapshotHeader,
} from './snapshots/snapshot.ts';
import type { MergeTask, Merged } from './snapshots/snapshotMerge.ts';
import { mergeInWorker, mergeSnapshot } from './snapshots/snapshotMerge.ts';
import type { Data } from './state.ts';

/** What must fit on a disk before it counts as writable again. */
const PROBE_BYTES = 256 << 10;

interface AdapterOptions extends JournalOptions {
  readonly log: Logger;
}

/**
 * lowdb's two methods over a folder: `read` recovers the snapshot and the journals, `write` makes a
 * snapshot. Each transaction is appended to the journal, so that its cost does not grow with the
 * store.
 */
export class JournaledAdapter implements Adapter<Data> {
  private readonly options: AdapterOptions;
  private current: Journal | null = null;
  private mark: HighWaterMark | null = null;
  private base: Recovered['base'] = { bytes: 0, at: null };
  /** The length of the journals since the last snapshot, less what `current` has written. */
  private carried = 0;
  private writing: AbortController | null = null;

  constructor(options: AdapterOptions) {
    this.options = options;
  }

  get journal(): Journal {
    if (this.current === null) throw new Error('The store has not been read yet');
    return this.current;
  }

  /** How long the oldest write that is not durable yet has been waiting; 0 when there is none. */
  get waitingMs(): number {
    return this.current?.waitingMs ?? 0;
  }

  get stats(): FileStats {
    return {
      journalBytes: this.carried + this.journal.written,
      snapshotBytes: this.base.bytes,
      snapshotAt: this.base.at,
    };
  }

  /**
   * Called at the start and after a failed write. After a failed write, it first cuts off what was
   * not acknowledged.
   */
  async read(): Promise<Data> {
    const failed = this.current;
    if (failed !== null) await this.cutUnacknowledged(failed);
    const recovered = await recover(this.options.folder, this.options.files, this.options.log);
    const { file, position } = await this.openJournal(recovered.position, failed !== null);
    await this.mark?.close();
    this.mark = await HighWaterMark.open(this.options.folder, this.options.files);
    await this.mark.write(position.nextSequence);
    this.current = new Journal(this.options, file, position, this.mark);
    this.base = recovered.base;
    this.carried = recovered.journalBytes;
    return recovered.data;
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.mark?.close();
  }

  /** Begins a new journal, makes a snapshot of everything before it, and removes old files. */
  async write(): Promise<void> {
    const { signal } = (this.writing = new AbortController());
    const merged = await this.rebase((header) =>
      this.publish(header, (target) =>
        this.merge({ folder: this.options.folder, header, target }, signal),
      ),
    );
    for (const generation of merged.damaged) this.options.log.warn(fallbackWarning(generation));
    await tidyFolder(this.options.folder, merged.base, this.options.files);
  }

  /**
   * Begins a new journal after a snapshot that is made of `lines` instead of the earlier files.
   * These files stay until the next `write`.
   * @param lines each as `snapshotLine` makes it
   */
  async writeFrom(lines: AsyncIterable<string>): Promise<void> {
    await this.rebase((header) =>
      this.publish(header, async (target) => ({
        bytes: await writeSnapshot(target, header, inParts(lines), this.options.files),
      })),
    );
  }

  /** Stops a `write` that is under way; it rejects soon. */
  giveUpSnapshot(): void {
    this.writing?.abort(new Error('the snapshot was given up'));
  }

  /**
   * Begins a new journal after a snapshot of everything before it.
   * @param publish writes that snapshot and returns its length
   */
  private async rebase<T extends { readonly bytes: number }>(
    publish: (header: SnapshotHeader) => Promise<T>,
  ): Promise<T> {
    const { journal } = this;
    const { generation, nextSequence } = await journal.rotate();
    const written = journal.written;
    const published = await publish({ generation, nextSequence });
    this.base = { bytes: published.bytes, at: Date.now() };
    this.carried = -written;
    return published;
  }

  /** Gives the file its final name once `make` has written it durably. */
  private async publish<T>(
    { generation }: SnapshotHeader,
    make: (target: string) => Promise<T>,
  ): Promise<T> {
    const path = join(this.options.folder, snapshotName(generation));
    const target = `${path}.${randomUUID()}${TEMPORARY}`;
    try {
      const made = await make(target);
      await this.options.files.rename(target, path);
      await this.options.files.syncFolder(this.options.folder);
      return made;
    } catch (error) {
      for (const each of [target, path]) await this.options.files.remove(each).catch(() => {});
      await this.options.files.syncFolder(this.options.folder).catch(() => {});
      throw error;
    }
  }

  /** A test's file operations cannot be passed to another thread. */
  private merge(task: MergeTask, signal: AbortSignal): Promise<Merged> {
    return this.options.files === nodeFiles
      ? mergeInWorker(task, signal)
      : mergeSnapshot(task, this.options.files, signal);
  }

  private async openJournal(last: JournalPosition | null, afterFailure: boolean) {
    if (last !== null && !afterFailure) {
      return {
        file: await this.options.files.open(
          join(this.options.folder, journalName(last.generation)),
          'r+',
        ),
        position: last,
      };
    }
    const generation = last === null ? FIRST_GENERATION : last.generation + 1;
    const file = await createJournal(this.options.folder, generation, this.options.files);
    return { file, position: { generation, length: 0, nextSequence: last?.nextSequence ?? 1 } };
  }

  private async cutUnacknowledged(failed: Journal): Promise<void> {
    await failed.close();
    const { generation, length } = failed.position;
    await cutFile(this.options.files, join(this.options.folder, journalName(generation)), length);
    await this.probe();
  }

  private async probe(): Promise<void> {
    const path = join(this.options.folder, `probe-${randomUUID()}${TEMPORARY}`);
    try {
      await withFile(this.options.files, path, 'w', async (file) => {
        await file.write(Buffer.alloc(PROBE_BYTES, 'probe'), 0);
        await file.sync();
      });
    } finally {
      await this.options.files.remove(path);
    }
  }
}
