import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DumpedRecord, Job, Schema } from '../store.ts';
import { StoreUnavailable } from '../store.ts';
import { toJson } from '../document.ts';
import { inWords } from './errors.ts';
import type { Files, StoreFile } from './files.ts';
import { TEMPORARY, snapshotName } from './folder.ts';
import type { JobClock } from './jobClock.ts';
import type { SnapshotHeader } from './snapshotFile.ts';
import { SnapshotFile, snapshotLine } from './snapshotFile.ts';
import type { Data } from './state.ts';
import { JOBS, State } from './state.ts';

/** Large enough that writing costs little, small enough that it takes no memory to speak of. */
const PIECE_CHARACTERS = 256 << 10;

/** What a dump holds, in memory. */
export interface Restored {
  readonly data: Data;
  readonly state: State;
  /** From when on each job can be claimed, by its id, in steady milliseconds. */
  readonly dueAt: ReadonlyMap<string, number>;
}

/** Takes records one by one, and gives back the lines of the snapshot that holds them. */
class Arrivals implements Restored {
  readonly data: Data = {};
  readonly state: State;
  readonly dueAt = new Map<string, number>();
  private readonly time: JobClock;

  constructor(schema: Schema, time: JobClock) {
    this.state = new State(schema, this.data);
    this.time = time;
  }

  /** @throws TypeError, UniqueViolation */
  take(record: DumpedRecord): string {
    if (!('job' in record)) return this.put(record.collection, record.document);
    const { stored, dueAt } = this.time.enqueue(checkedJob(record.job));
    const line = this.put(JOBS, stored, true);
    this.dueAt.set(stored.id, dueAt);
    return line;
  }

  private put(collection: string, document: { readonly id: string }, isJob = false): string {
    if (collection === JOBS && !isJob)
      throw new TypeError(`The collection name "${JOBS}" is taken by the work queue`);
    const json = toJson(collection, document);
    const table = this.state.makeTable(collection);
    if (table.get(document.id) !== undefined)
      throw new TypeError(`${collection} ${document.id} comes twice`);
    table.put(document);
    return snapshotLine(collection, json);
  }
}

const checkedJob = ({ id, queue, group, runAt, rank, data }: Job): Job => {
  const isJob =
    typeof queue === 'string' &&
    typeof group === 'string' &&
    Number.isFinite(runAt) &&
    Number.isFinite(rank) &&
    typeof data === 'object' &&
    data !== null;
  if (!isJob) throw new TypeError(`job ${id} lacks its queue, group, time, rank or data`);
  return { id, queue, group, runAt, rank, data };
};

/**
 * Writes what a dump holds as a snapshot and publishes it by its name: before that moment the
 * folder holds nothing of it, and from then on everything.
 * @throws StoreUnavailable when the folder cannot be written, TypeError or UniqueViolation for what
 * no dump holds
 */
export const restoreSnapshot = async (
  folder: string,
  header: SnapshotHeader,
  records: AsyncIterable<DumpedRecord>,
  schema: Schema,
  time: JobClock,
  files: Files,
): Promise<Restored & { readonly bytes: number }> => {
  const arrivals = new Arrivals(schema, time);
  const name = snapshotName(header.generation);
  const [path, temporary] = [
    join(folder, name),
    join(folder, `${name}.${randomUUID()}${TEMPORARY}`),
  ];
  try {
    const bytes = await fill(await writing(files.open(temporary, 'w')), header, records, arrivals);
    await writing(files.rename(temporary, path));
    await writing(files.syncFolder(folder));
    return { data: arrivals.data, state: arrivals.state, dueAt: arrivals.dueAt, bytes };
  } catch (error) {
    for (const made of [temporary, path]) await files.remove(made).catch(() => {});
    await files.syncFolder(folder).catch(() => {});
    throw error;
  }
};

const fill = async (
  file: StoreFile,
  header: SnapshotHeader,
  records: AsyncIterable<DumpedRecord>,
  arrivals: Arrivals,
): Promise<number> => {
  try {
    const snapshot = await writing(SnapshotFile.begin(file, header));
    let lines = '';
    let count = 0;
    for await (const record of records) {
      lines += arrivals.take(record);
      count += 1;
      if (lines.length < PIECE_CHARACTERS) continue;
      await writing(snapshot.add(lines, count));
      lines = '';
      count = 0;
    }
    if (count > 0) await writing(snapshot.add(lines, count));
    return await writing(snapshot.finish());
  } finally {
    await file.close();
  }
};

/** Tells what the disk refuses from what is wrong with the records. */
const writing = async <T>(operation: Promise<T>): Promise<T> => {
  try {
    return await operation;
  } catch (error) {
    throw new StoreUnavailable(`the data folder cannot be written: ${inWords(error)}`, {
      cause: error,
    });
  }
};
