import { join } from 'node:path';
import { readHighWaterMark } from './highWaterMark.ts';
import { ParsedDocuments } from '../../document.ts';
import { cutFile, withFile, type Files } from '../../../platform/files.ts';
import type { Listing } from './folder.ts';
import { FIRST_GENERATION, basesOf, journalName, listFolder } from './folder.ts';
import type { Operation } from './frame.ts';
import type { JournalPosition } from './journal.ts';
import type { Line } from '../../../platform/lines.ts';
import type { Logger } from '../../clockAndLog.ts';
import { Replay, lostFrames, journalsSince } from './replay.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import { noGoodSnapshot, fallbackWarning, readSnapshot } from '../snapshots/snapshot.ts';
import type { Data } from '../state.ts';

export interface Recovered {
  readonly data: Data;
  /** The end of the last journal; null when the folder is empty. */
  readonly position: JournalPosition | null;
  /** The snapshot that the data began with. */
  readonly base: Pick<Snapshot, 'bytes' | 'at'>;
  /** Length of the journals that were replayed, in bytes. */
  readonly journalBytes: number;
}

/**
 * Reads the newest good snapshot and all journals since then. Cuts off a torn end, in which nothing
 * was acknowledged, and makes the rest durable.
 * @throws StoreDamaged for any other damage; then nothing was changed
 */
export const recover = async (folder: string, files: Files, log: Logger): Promise<Recovered> => {
  const listing = await listFolder(folder);
  const { data, ...base } = await newestGoodSnapshot(folder, listing, log);
  const journals = journalsSince(base.generation, listing);
  const replay = new Replay(base);
  const parsed = new ParsedDocuments();
  for await (const operations of replay.read(folder, journals))
    for (const operation of operations) apply(data, operation, parsed);
  const promised = await readHighWaterMark(folder);
  if (promised !== null && promised > replay.nextSequence) throw lostFrames(replay, promised);
  if (journals.length === 0) return { data, position: null, base, journalBytes: 0 };
  const { end, nextSequence, bytes: journalBytes } = replay;
  if (replay.isTorn) await cut(folder, end, files, log);
  const generation = journals.at(-1)!;
  await syncLastFrame(folder, generation, replay.lastFrame, files);
  return {
    data,
    position: { generation, length: end.position, nextSequence },
    base,
    journalBytes,
  };
};

const newestGoodSnapshot = async (
  folder: string,
  listing: Listing,
  log: Logger,
): Promise<Snapshot> => {
  for (const generation of basesOf(listing)) {
    if (generation === FIRST_GENERATION)
      return { generation, nextSequence: 1, data: {}, bytes: 0, at: null };
    const snapshot = await readSnapshot(folder, generation);
    if (snapshot !== null) return snapshot;
    log.warn(fallbackWarning(generation));
  }
  throw noGoodSnapshot(listing.snapshots[0]!);
};

const apply = (data: Data, operation: Operation, parsed: ParsedDocuments): void => {
  const [kind, collection] = operation;
  const rows = (data[collection] ??= new Map());
  if (kind === 'delete') rows.delete(operation[2]);
  else {
    parsed.freeze(operation[2]);
    rows.set(operation[2].id, operation[2]);
  }
};

const cut = async (
  folder: string,
  { file, position }: Replay['end'],
  files: Files,
  log: Logger,
): Promise<void> => {
  log.warn(
    `${file} ends in an unfinished frame at byte ${position}; it was never acknowledged and is cut off`,
  );
  await cutFile(files, join(folder, file), position);
};

/**
 * Makes the last frame durable before anything read from it leaves the process. It may be in the
 * page cache only: its writer was killed before fdatasync, or fdatasync failed, after which Linux
 * treats the pages as clean. Writing the same bytes again makes the pages dirty, so that the sync
 * is real.
 */
const syncLastFrame = async (
  folder: string,
  generation: number,
  last: Line | null,
  files: Files,
): Promise<void> => {
  await withFile(files, join(folder, journalName(generation)), 'r+', async (file) => {
    if (last !== null) await file.write(last.bytes, last.position);
    await file.sync();
  });
  await files.syncFolder(folder);
};
