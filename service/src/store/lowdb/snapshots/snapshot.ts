import { jsonIn } from '../../../platform/json.ts';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { ParsedDocuments } from '../../document.ts';
import type { Line } from '../../../platform/lines.ts';
import type { Document } from '../../store.ts';
import { StoreDamaged } from '../errors.ts';
import { type Files, readLines } from '../../../platform/files.ts';
import { snapshotName } from '../journal/folder.ts';
import type { Data } from '../state.ts';

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

const SNAPSHOT_FORMAT = 1;
/**
 * The journal's fdatasync waits for at most this much of the snapshot. With 4 MiB, one journal
 * write in ten took twice as long.
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

export interface Snapshot extends SnapshotHeader {
  readonly data: Data;
  readonly bytes: number;
  /** When it was finished, in milliseconds since the epoch; null when there is no snapshot yet. */
  readonly at: number | null;
}

/** A file is not a whole, undamaged snapshot. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
}

/** Logged at a start or a snapshot, and printed by the command that makes a backup. */
export const fallbackWarning = (generation: number) =>
  `${snapshotName(generation)} is empty or damaged; falling back to the one before and its journals`;

/** @param newest the newest generation; all snapshots are damaged */
export const noGoodSnapshot = (newest: number) =>
  new StoreDamaged(
    snapshotName(newest),
    0,
    'The snapshot is empty or damaged and there is none to fall back to',
  );

/** @returns null when the file is not a whole, undamaged snapshot */
export const readSnapshot = async (
  folder: string,
  generation: number,
): Promise<Snapshot | null> => {
  const data: Data = {};
  const parsed = new ParsedDocuments();
  try {
    for await (const lines of readDocumentLines(folder, generation)) {
      for (const line of lines) {
        const [collection, document] = parseDocumentLine(line);
        parsed.freeze(document);
        (data[collection] ??= new Map()).set(document.id, document);
      }
    }
    const { nextSequence } = await readSnapshotHeader(folder, generation);
    const { size, mtimeMs } = await stat(join(folder, snapshotName(generation)));
    return { generation, nextSequence, data, bytes: size, at: mtimeMs };
  } catch (error) {
    if (error instanceof SnapshotDamaged) return null;
    throw error;
  }
};

/** @throws SnapshotDamaged */
export const readSnapshotHeader = async (
  folder: string,
  generation: number,
): Promise<SnapshotHeader> => {
  for await (const [first] of readLines(join(folder, snapshotName(generation))))
    return parseHeader(first!, generation);
  throw new SnapshotDamaged('it is empty');
};

/**
 * Yields the documents' lines, unparsed and many at a time. They are verified only at the end, when
 * their checksum is known.
 * @throws SnapshotDamaged at the latest at the end
 */
export async function* readDocumentLines(
  folder: string,
  generation: number,
): AsyncGenerator<readonly Buffer[]> {
  const check = new SnapshotCheck(generation);
  for await (const lines of readLines(join(folder, snapshotName(generation)))) {
    yield lines.filter((line) => check.take(line)).map(({ bytes }) => bytes);
  }
  check.finish();
}

/** @throws SnapshotDamaged */
const parseDocumentLine = (line: Buffer): [collection: string, document: Document] => {
  const [collection, document] = parse(line) as [unknown?, Document?];
  if (typeof collection !== 'string' || typeof document?.id !== 'string')
    throw new SnapshotDamaged('a line is not a document');
  return [collection, document];
};

/** Most of our lines begin like this: the id comes first and contains no escapes. */
const HEAD = /^\["([^"\\\x80-\xff]+)",\{"id":"([^"\\\x80-\xff]+)"/;
const HEAD_BYTES = 160;

/**
 * Finds out which document a line holds. It avoids parsing most lines, which would take ten times
 * as long.
 * @throws SnapshotDamaged
 */
export const documentOf = (line: Buffer): [collection: string, id: string] => {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES));
  if (head !== null) return [head[1]!, head[2]!];
  const [collection, { id }] = parseDocumentLine(line);
  return [collection, id];
};

/** The document of a line. @throws SnapshotDamaged */
export const documentIn = (line: Buffer): Document => parseDocumentLine(line)[1];

/** Verifies a snapshot line by line. */
class SnapshotCheck {
  private readonly generation: number;
  private header: SnapshotHeader | null = null;
  private trailer: Trailer | null = null;
  private count = 0;
  private crc = 0;

  constructor(generation: number) {
    this.generation = generation;
  }

  /** @returns true for the line of a document */
  take(line: Line): boolean {
    if (!line.ended || this.trailer !== null)
      throw new SnapshotDamaged('it is cut off, or goes on after its end');
    const isDocument = this.header !== null && line.bytes[0] === BRACKET;
    if (isDocument) this.count += 1;
    else if (this.header === null) this.header = parseHeader(line, this.generation);
    else this.trailer = parse(line.bytes) as Trailer;
    if (this.trailer === null) this.crc = crc32(NEWLINE, crc32(line.bytes, this.crc));
    return isDocument;
  }

  finish(): void {
    if (this.trailer?.count !== this.count || this.trailer.crc !== this.crc)
      throw new SnapshotDamaged('its checksum or its number of documents does not match');
  }
}

interface Trailer {
  readonly count: number;
  readonly crc: number;
}

const NEWLINE = Buffer.from('\n');
/** `[` begins the line of a document; header and trailer begin with `{`. */
const BRACKET = 0x5b;

const parseHeader = ({ bytes }: Line, generation: number): SnapshotHeader => {
  const header = parse(bytes) as SnapshotHeader & { format: number };
  if (header.format !== SNAPSHOT_FORMAT || header.generation !== generation)
    throw new SnapshotDamaged('its header does not match');
  return header;
};

const parse = (line: Buffer): object => {
  const value = jsonIn(line.toString());
  if (typeof value === 'object' && value !== null) return value;
  throw new SnapshotDamaged('a line is not the JSON that was written');
};
