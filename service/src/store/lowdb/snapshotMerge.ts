import { setTimeout as sleep } from 'node:timers/promises';
import type { Files } from './files.ts';
import { FIRST_GENERATION, basesOf, listFolder } from './folder.ts';
import type { Operation } from './frame.ts';
import { LastOperations } from './lastOperations.ts';
import { Replay, endsEarly, journalsSince } from './replay.ts';
import {
  SnapshotDamaged,
  documentOf,
  noGoodSnapshot,
  readDocumentLines,
  readSnapshotHeader,
} from './snapshot.ts';
import type { SnapshotHeader } from './snapshotFile.ts';
import { SnapshotFile, snapshotLine } from './snapshotFile.ts';

/**
 * A snapshot that is to be made. All journals before its generation are closed. Can be passed
 * between threads.
 */
export interface MergeOrder {
  readonly folder: string;
  readonly header: SnapshotHeader;
  /** Path of the file to write; whoever ordered it publishes or removes it. */
  readonly target: string;
}

export interface Merged {
  /** Length of the new snapshot. */
  readonly bytes: number;
  /** Generation of the snapshot that it was made from; the first: of journals alone. */
  readonly base: number;
  /** Generations of newer snapshots that are damaged. */
  readonly damaged: readonly number[];
}

/**
 * Makes a snapshot from files: the newest good snapshot and the journals since. The old one's lines
 * of documents that a journal names are left out, the others passed on as they are; behind them
 * comes what the journals made of theirs. Keeps in memory what the journals' documents are called,
 * nothing else.
 * @throws StoreDamaged when a journal cannot be read to its end, or no snapshot is good
 * @see decision 0032
 */
export const mergeSnapshot = async (
  order: MergeOrder,
  files: Files,
  signal?: AbortSignal,
): Promise<Merged> => {
  const damaged: number[] = [];
  const listing = await listFolder(order.folder);
  for (const base of basesOf(listing, order.header.generation)) {
    const journals = journalsSince(base, listing).filter(
      (generation) => generation < order.header.generation,
    );
    try {
      return { bytes: await mergeFrom(base, journals, order, files, signal), base, damaged };
    } catch (error) {
      if (!(error instanceof SnapshotDamaged)) throw error;
      damaged.push(base);
    }
  }
  throw noGoodSnapshot(damaged[0]!);
};

const mergeFrom = async (
  base: number,
  journals: readonly number[],
  { folder, header, target }: MergeOrder,
  files: Files,
  signal?: AbortSignal,
): Promise<number> => {
  const isFirst = base === FIRST_GENERATION;
  const from = isFirst
    ? { generation: base, nextSequence: 1 }
    : await readSnapshotHeader(folder, base);
  const last = new LastOperations();
  for await (const operations of paced(closedJournals(folder, journals, from, header), signal))
    last.note(operations);
  const file = await files.open(target, 'w');
  try {
    const snapshot = await SnapshotFile.begin(file, header);
    for await (const lines of paced(isFirst ? [] : readDocumentLines(folder, base), signal)) {
      const unchanged = lines.filter((line) => !last.isNamed(...documentOf(line)));
      await snapshot.add(
        Buffer.concat(unchanged.flatMap((line) => [line, NEWLINE])),
        unchanged.length,
      );
    }
    const changed = last.pick();
    for await (const operations of paced(closedJournals(folder, journals, from, header), signal)) {
      const puts = changed(operations);
      await snapshot.add(
        puts
          .map(([, collection, document]) => snapshotLine(collection, JSON.stringify(document)))
          .join(''),
        puts.length,
      );
    }
    return await snapshot.finish();
  } finally {
    await file.close();
  }
};

/**
 * Rests behind each part for as long as that took: whoever serves requests meanwhile shares
 * processor and disk.
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
  if (replay.nextSequence < to.nextSequence) throw endsEarly(replay, to.nextSequence);
}
