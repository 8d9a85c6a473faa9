import { once } from 'node:events';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Files } from '../../../platform/files.ts';
import { FIRST_GENERATION, basesOf, listFolder } from '../journal/folder.ts';
import type { Operation } from '../journal/frame.ts';
import { Replay, lostFrames, journalsSince } from '../journal/replay.ts';
import {
  SnapshotDamaged,
  documentOf,
  noGoodSnapshot,
  readDocumentLines,
  readSnapshotHeader,
  type SnapshotHeader,
  type SnapshotPart,
  snapshotLine,
  writeSnapshot,
} from './snapshot.ts';

/**
 * A snapshot to be made. All journals before its generation are closed. Can be passed between
 * threads.
 */
export interface MergeTask {
  readonly folder: string;
  readonly header: SnapshotHeader;
  /** Path of the file to write. The caller publishes or removes it. */
  readonly target: string;
}

export interface Merged {
  /** Length of the new snapshot. */
  readonly bytes: number;
  /** Generation of the snapshot that it was made from; FIRST_GENERATION: from journals alone. */
  readonly base: number;
  /** Generations of newer snapshots that are damaged. */
  readonly damaged: readonly number[];
}

/** The script beside this file, as source or as built. */
const WORKER = new URL(`./snapshotWorker${extname(import.meta.url)}`, import.meta.url);

/**
 * Runs `mergeSnapshot` in a thread of its own, which has ended when this settles.
 * @throws what `mergeSnapshot` throws, by name and message; AbortError when it was given up
 */
export const mergeInWorker = async (task: MergeTask, signal: AbortSignal): Promise<Merged> => {
  // Without the process's options: they may name a profiler or loader for the main thread only.
  const worker = new Worker(WORKER, { workerData: task, execArgv: [] });
  // The worker may fail at the moment when it is given up, and `once` no longer listens then.
  worker.on('error', () => {});
  try {
    const [merged] = (await once(worker, 'message', { signal })) as [Merged];
    return merged;
  } finally {
    await worker.terminate();
  }
};

/**
 * Makes a snapshot from files: the newest good snapshot and the journals since then. A document
 * that no journal names is copied without parsing. Every other document is written as the journals
 * leave it. Memory grows with the ids in the journals, not with the store.
 * @throws StoreDamaged when a journal cannot be read to its end, or no snapshot is good
 * @see docs/decisions/0032-snapshots-from-files.md
 */
export const mergeSnapshot = async (
  task: MergeTask,
  files: Files,
  signal?: AbortSignal,
): Promise<Merged> => {
  const damaged: number[] = [];
  const listing = await listFolder(task.folder);
  for (const base of basesOf(listing, task.header.generation)) {
    const journals = journalsSince(base, listing).filter(
      (generation) => generation < task.header.generation,
    );
    try {
      return { bytes: await mergeFrom(base, journals, task, files, signal), base, damaged };
    } catch (error) {
      if (!(error instanceof SnapshotDamaged)) throw error;
      damaged.push(base);
    }
  }
  throw noGoodSnapshot(damaged[0]!);
};

async function mergeFrom(
  base: number,
  journals: readonly number[],
  { folder, header, target }: MergeTask,
  files: Files,
  signal?: AbortSignal,
): Promise<number> {
  const isFirst = base === FIRST_GENERATION;
  const from = isFirst
    ? { generation: base, nextSequence: 1 }
    : await readSnapshotHeader(folder, base);
  const operations = () => paced(closedJournals(folder, journals, from, header), signal);

  const last = new LastOperations();
  for await (const each of operations()) last.note(each);
  async function* parts(): AsyncGenerator<SnapshotPart> {
    for await (const lines of paced(isFirst ? [] : readDocumentLines(folder, base), signal)) {
      const unchanged = lines.filter((line) => !last.isNamed(...documentOf(line)));
      yield {
        lines: Buffer.concat(unchanged.flatMap((line) => [line, NEWLINE])),
        documents: unchanged.length,
      };
    }
    const pick = last.picker();
    for await (const each of operations()) {
      const lines = pick(each).map(([, collection, document]) =>
        snapshotLine(collection, JSON.stringify(document)),
      );
      yield { lines: lines.join(''), documents: lines.length };
    }
  }
  return writeSnapshot(target, header, parts(), files);
}

/**
 * Rests after each part for as long as it took, because requests need the processor and the disk.
 */
async function* paced<T>(
  parts: AsyncIterable<T> | Iterable<T>,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  let began = performance.now();
  for await (const part of parts) {
    signal?.throwIfAborted();
    yield part;
    await sleep(Math.min(MAX_REST_MS, performance.now() - began));
    began = performance.now();
  }
}

const MAX_REST_MS = 100;
const NEWLINE = Buffer.from('\n');

async function* closedJournals(
  folder: string,
  journals: readonly number[],
  from: SnapshotHeader,
  to: SnapshotHeader,
): AsyncGenerator<readonly Operation[]> {
  const replay = new Replay(from);
  yield* replay.read(folder, journals);
  if (replay.nextSequence < to.nextSequence) throw lostFrames(replay, to.nextSequence);
}

type Put = Extract<Operation, readonly ['put', ...unknown[]]>;

/** The number of the last operation on each document in the journals. */
class LastOperations {
  private readonly byCollection = new Map<string, Map<string, number>>();
  private count = 0;

  note(operations: readonly Operation[]): void {
    for (const operation of operations) {
      const [, collection] = operation;
      let numbers = this.byCollection.get(collection);
      if (numbers === undefined) this.byCollection.set(collection, (numbers = new Map()));
      numbers.set(idOf(operation), this.count);
      this.count += 1;
    }
  }

  isNamed(collection: string, id: string): boolean {
    return this.byCollection.get(collection)?.has(id) ?? false;
  }

  /** Given all operations again in the same order, picks the documents that remain in the end. */
  picker(): (operations: readonly Operation[]) => readonly Put[] {
    let number = 0;
    return (operations) =>
      operations.filter((operation): operation is Put => {
        const isLast = this.byCollection.get(operation[1])?.get(idOf(operation)) === number;
        number += 1;
        return isLast && operation[0] === 'put';
      });
  }
}

const idOf = (operation: Operation): string =>
  operation[0] === 'put' ? operation[2].id : operation[2];
