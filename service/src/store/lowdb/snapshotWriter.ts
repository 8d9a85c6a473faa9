import { crc32 } from 'node:zlib';
import type { Files } from './files.ts';

/**
 * A snapshot is a file of lines: a header, one line for each document (`["contacts",{…}]`), and a
 * trailer with the number of documents and the CRC-32 of all lines before it. A file that is empty,
 * cut off or filled with NULs has no valid trailer.
 */
export interface SnapshotHeader {
  /** The snapshot holds everything in the journals before this generation. */
  readonly generation: number;
  /** The number of the first frame in that generation's journal. */
  readonly nextSequence: number;
}

export const SNAPSHOT_FORMAT = 1;
/**
 * The journal's fdatasync waits for at most this much of the snapshot. With 4 MiB, one journal write
 * in ten took twice as long.
 */
const SYNC_EVERY_BYTES = 256 << 10;
/** Lines are written in parts of about this size. */
const PART_CHARACTERS = 256 << 10;

/** @param json the document as JSON */
export const snapshotLine = (collection: string, json: string): string =>
  `[${JSON.stringify(collection)},${json}]\n`;

/** Whole lines of documents. */
export interface SnapshotPart {
  readonly lines: string | Uint8Array;
  readonly documents: number;
}

/** @returns the length of the file in bytes, once all of it is durable */
export async function writeSnapshot(
  path: string,
  header: SnapshotHeader,
  parts: AsyncIterable<SnapshotPart>,
  files: Files,
): Promise<number> {
  const file = await files.open(path, 'w');
  let length = 0;
  let syncedLength = 0;
  let crc = 0;
  let count = 0;
  const write = async (lines: string | Uint8Array) => {
    const bytes = typeof lines === 'string' ? Buffer.from(lines) : lines;
    await file.write(bytes, length);
    crc = crc32(bytes, crc);
    length += bytes.length;
    if (length - syncedLength < SYNC_EVERY_BYTES) return;
    await file.sync();
    syncedLength = length;
  };
  try {
    await write(`${JSON.stringify({ format: SNAPSHOT_FORMAT, ...header })}\n`);
    for await (const { lines, documents } of parts) {
      await write(lines);
      count += documents;
    }
    await write(`${JSON.stringify({ count, crc })}\n`);
    await file.sync();
    return length;
  } finally {
    await file.close();
  }
}

/** @param lines each as `snapshotLine` makes it */
export async function* inParts(lines: AsyncIterable<string>): AsyncGenerator<SnapshotPart> {
  let part = '';
  let documents = 0;
  for await (const line of lines) {
    part += line;
    documents += 1;
    if (part.length < PART_CHARACTERS) continue;
    yield { lines: part, documents };
    part = '';
    documents = 0;
  }
  if (documents > 0) yield { lines: part, documents };
}
