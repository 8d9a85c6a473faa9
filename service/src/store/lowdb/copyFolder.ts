import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { cutFile, nodeFiles, withFile } from '../../platform/files.ts';
import type { Document } from '../store.ts';
import { StoreDamaged } from './errors.ts';
import {
  basesOf,
  FIRST_GENERATION,
  journalName,
  listFolder,
  lockFolder,
  makeFolder,
  snapshotName,
  TEMPORARY,
} from './journal/folder.ts';
import { ACKNOWLEDGED, HighWaterMark, readHighWaterMark } from './journal/highWaterMark.ts';
import { lostFrames, journalsSince, Replay } from './journal/replay.ts';
import {
  documentIn,
  documentOf,
  noGoodSnapshot,
  fallbackWarning,
  readDocumentLines,
  readSnapshotHeader,
  SnapshotDamaged,
  type SnapshotHeader,
} from './snapshots/snapshot.ts';

/** A snapshot that ends while files are being opened may remove some. That is rare. */
const MAX_TRIES = 5;
const CHUNK_BYTES = 1 << 20;

/**
 * Is called for each version of a document in a copy, in the order of writing: the last one counts.
 * @param read parses it. Null: the document was deleted
 */
type SeeDocument = (collection: string, id: string, read: () => Document | null) => void;

/** Open files that hold everything. They can be read even when their names are removed. */
interface Pinned {
  readonly base: number;
  readonly journals: readonly number[];
  readonly files: ReadonlyMap<string, FileHandle>;
}

/**
 * Copies the files of a data folder, also while a process has it open and writes. The copy is the
 * store as it was at one moment after the call: it holds everything that was acknowledged before
 * the call, and the first part of what was written since. It is checked frame by frame.
 * @param to an empty folder
 * @param warn called with a sentence for each damaged snapshot that is passed over
 * @param see called while the copy is checked
 * @returns the names of the copied files; none when nothing is stored
 * @throws StoreDamaged when something acknowledged cannot be read
 */
export async function copyDataFolder(
  folder: string,
  to: string,
  warn: (sentence: string) => void = () => {},
  see: SeeDocument = () => {},
): Promise<readonly string[]> {
  const promised = await readHighWaterMark(folder);
  const { header, journals, names } = await copyFiles(folder, to, warn, see);
  if (names.length === 0) return [];
  const replay = new Replay(header);
  for await (const operations of replay.read(to, journals))
    for (const [kind, collection, given] of operations)
      if (kind === 'put') see(collection, given.id, () => given);
      else see(collection, given, () => null);
  if (promised !== null && promised > replay.nextSequence) throw lostFrames(replay, promised);
  // What follows the end is a frame that was being written.
  if (replay.isTorn) await cutFile(nodeFiles, join(to, replay.end.file), replay.end.position);
  const mark = await HighWaterMark.open(to, nodeFiles);
  await mark.write(replay.nextSequence);
  await mark.close();
  return [...names, ACKNOWLEDGED];
}

/** Like a start, falls back to an earlier snapshot when the newest one is damaged. */
async function copyFiles(
  folder: string,
  to: string,
  warn: (sentence: string) => void,
  see: SeeDocument,
) {
  for (const damaged: number[] = []; ; ) {
    const { base, journals, files } = await pinFiles(folder, damaged);
    try {
      for (const [name, file] of files) await writeFile(join(to, name), piecesOf(file));
    } finally {
      for (const file of files.values()) await file.close();
    }
    const header = await readHeader(to, base, see);
    if (header !== null) return { header, journals, names: [...files.keys()] };
    warn(fallbackWarning(base));
    for (const name of files.keys()) await nodeFiles.remove(join(to, name));
    damaged.push(base);
  }
}

async function pinFiles(folder: string, damaged: readonly number[]): Promise<Pinned> {
  for (let tries = 1; ; tries += 1) {
    const files = new Map<string, FileHandle>();
    try {
      const listing = await listFolder(folder);
      const base = basesOf(listing).find((generation) => !damaged.includes(generation));
      if (base === undefined) throw noGoodSnapshot(damaged[0]!);
      const journals = journalsSince(base, listing);
      const names = [
        ...(base === FIRST_GENERATION ? [] : [snapshotName(base)]),
        ...journals.map(journalName),
      ];
      for (const name of names) files.set(name, await open(join(folder, name), 'r'));
      return { base, journals, files };
    } catch (error) {
      for (const file of files.values()) await file.close();
      const { code } = error as NodeJS.ErrnoException;
      if (tries === MAX_TRIES || !(code === 'ENOENT' || error instanceof StoreDamaged)) throw error;
    }
  }
}

const piecesOf = (file: FileHandle): AsyncIterable<Buffer> =>
  file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });

/** Writes a file that only its owner may read, and makes it durable. */
const writeFile = (path: string, pieces: AsyncIterable<Buffer>): Promise<void> =>
  withFile(nodeFiles, path, 'w', async (file) => {
    let position = 0;
    for await (const piece of pieces) {
      await file.write(piece, position);
      position += piece.length;
    }
    await file.sync();
  });

/** Reads the whole snapshot, to check it. @returns null when it is damaged */
async function readHeader(
  folder: string,
  generation: number,
  see: SeeDocument,
): Promise<SnapshotHeader | null> {
  if (generation === FIRST_GENERATION) return { generation, nextSequence: 1 };
  try {
    for await (const lines of readDocumentLines(folder, generation))
      for (const line of lines) see(...documentOf(line), () => documentIn(line));
    return await readSnapshotHeader(folder, generation);
  } catch (error) {
    if (error instanceof SnapshotDamaged) return null;
    throw error;
  }
}

/** Named so that a start removes the files that an interrupted restore has left. */
const temporaryOf = (name: string) => `probe-${name}${TEMPORARY}`;

/**
 * Puts copied files into an empty data folder, which no other process may have open. The mark comes
 * first: as long as other files are missing, it makes a start refuse the folder.
 * @param from each file's path, by its name
 * @throws FolderInUse; Error when the folder holds data
 */
export async function fillDataFolder(
  folder: string,
  from: ReadonlyMap<string, string>,
): Promise<void> {
  await makeFolder(folder, nodeFiles);
  const lock = await lockFolder(folder);
  try {
    const { snapshots, journals } = await listFolder(folder);
    if (snapshots.length + journals.length > 0)
      throw new Error(
        `The data folder ${folder} is not empty. Move its files away, or set DATA_DIR to a new folder.`,
      );
    const names = [...from.keys()];
    for (const name of names)
      await writeFile(
        join(folder, temporaryOf(name)),
        createReadStream(from.get(name)!, { highWaterMark: CHUNK_BYTES }),
      );
    const ordered = [ACKNOWLEDGED, ...names.filter((name) => name !== ACKNOWLEDGED)];
    for (const name of ordered.filter((each) => from.has(each)))
      await nodeFiles.rename(join(folder, temporaryOf(name)), join(folder, name));
    await nodeFiles.syncFolder(folder);
  } finally {
    await lock.release();
  }
}
