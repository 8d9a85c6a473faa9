import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Document } from '../store.ts';
import { freezeParsed } from './document.ts';
import type { Files, StoreFile } from './files.ts';
import { TEMPORARY, snapshotName } from './folder.ts';
import { readLines } from './lines.ts';
import type { SnapshotHeader } from './snapshotFile.ts';
import { SNAPSHOT_FORMAT, SnapshotFile, snapshotLine } from './snapshotFile.ts';
import type { Data } from './state.ts';
import { emptyRows } from './state.ts';

export interface Snapshot extends SnapshotHeader {
  readonly data: Data;
  readonly bytes: number;
  /** When it was finished, in milliseconds since the epoch; null for what stands in where there is none. */
  readonly at: number | null;
}

/** A part of a collection, as it stood at one moment. */
export interface Slice {
  readonly collection: string;
  readonly documents: readonly Document[];
}

/** A fraction of a millisecond's work, after which others have their turn. */
const PIECE_CHARACTERS = 64 << 10;
/** A snapshot rests for so many times as long as it has worked. */
const REST_FACTOR = 3;
const LONGEST_REST_MS = 20;

/**
 * Writes a snapshot under a temporary name and publishes it.
 * @param slices may change between one slice and the next: replaying the journal from the snapshot's
 *   generation on sets every such document right
 * @param beforePublishing resolves when the journal holds everything that the slices showed
 * @returns its length in bytes
 */
export const writeSnapshot = async (
  folder: string,
  header: SnapshotHeader,
  slices: AsyncIterable<Slice>,
  beforePublishing: () => Promise<void>,
  files: Files,
): Promise<number> => {
  const name = snapshotName(header.generation);
  const temporary = join(folder, `${name}.${randomUUID()}${TEMPORARY}`);
  try {
    const length = await fill(await files.open(temporary, 'w'), header, slices);
    await beforePublishing();
    await files.rename(temporary, join(folder, name));
    await files.syncFolder(folder);
    return length;
  } catch (error) {
    await files.remove(temporary).catch(() => {});
    throw error;
  }
};

const fill = async (file: StoreFile, header: SnapshotHeader, slices: AsyncIterable<Slice>): Promise<number> => {
  try {
    const snapshot = await SnapshotFile.begin(file, header);
    for await (const { collection, documents } of slices) {
      for (const piece of piecesOf(collection, documents)) {
        await snapshot.add(piece.text, piece.documents);
        // What goes on beside a snapshot gets most of the time.
        await sleep(Math.min(LONGEST_REST_MS, REST_FACTOR * piece.madeInMs));
      }
    }
    return await snapshot.finish();
  } finally {
    await file.close();
  }
};

/** Lines of about PIECE_CHARACTERS, one document at least. Documents never change, so making their text may take its time. */
function* piecesOf(collection: string, documents: readonly Document[]): Generator<{ text: string; documents: number; madeInMs: number }> {
  let text = '';
  let count = 0;
  let began = performance.now();
  for (const document of documents) {
    text += snapshotLine(collection, JSON.stringify(document));
    count += 1;
    if (text.length < PIECE_CHARACTERS) continue;
    yield { text, documents: count, madeInMs: performance.now() - began };
    text = '';
    count = 0;
    began = performance.now();
  }
  if (text !== '') yield { text, documents: count, madeInMs: performance.now() - began };
}

/** @returns null when the file is no whole, undamaged snapshot; an error of reading it is thrown */
export const readSnapshot = async (folder: string, generation: number): Promise<Snapshot | null> => {
  const reader = new SnapshotReader();
  const path = join(folder, snapshotName(generation));
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      try {
        reader.take(line.bytes);
      } catch {
        return null; // Not JSON: whatever reads the file is no longer in step with what wrote it.
      }
      if (!line.ended) return null;
    }
  }
  return reader.finish(generation, (await stat(path)).mtimeMs);
};

class SnapshotReader {
  private header: (SnapshotHeader & { format: number }) | null = null;
  private trailer: { count: number; crc: number } | null = null;
  private readonly data: Data = {};
  private count = 0;
  private crc = 0;
  private bytes = 0;
  private intact = true;

  take(line: Buffer): void {
    const value = JSON.parse(line.toString()) as unknown;
    // A trailer has to be the last line.
    if (this.trailer !== null) this.intact = false;
    if (Array.isArray(value)) this.takeDocument(value as [string, Document]);
    else if (this.header === null) this.header = value as SnapshotHeader & { format: number };
    else this.trailer = value as { count: number; crc: number };
    if (this.trailer === null) this.crc = crc32('\n', crc32(line, this.crc));
    this.bytes += line.length + 1;
  }

  finish(generation: number, at: number): Snapshot | null {
    const { header, trailer } = this;
    if (!this.intact || header === null || trailer === null) return null;
    if (trailer.count !== this.count || trailer.crc !== this.crc) return null;
    if (header.format !== SNAPSHOT_FORMAT || header.generation !== generation) return null;
    return { generation, nextSequence: header.nextSequence, data: this.data, bytes: this.bytes, at };
  }

  private takeDocument([collection, document]: [string, Document]): void {
    freezeParsed(document);
    (this.data[collection] ??= emptyRows())[document.id] = document;
    this.count += 1;
  }
}
