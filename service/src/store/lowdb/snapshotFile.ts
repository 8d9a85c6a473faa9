import { crc32 } from 'node:zlib';
import type { StoreFile } from './files.ts';

/**
 * A snapshot is a file of lines: a header, a line a document (`["contacts",{…}]`), a trailer with
 * the count and the CRC-32 of all lines before it. One that is empty, cut or filled with NULs has
 * no trailer that fits and is known bad.
 */
export interface SnapshotHeader {
  /** Everything in journals before this generation is in the snapshot. */
  readonly generation: number;
  /** The number of the first frame of that generation's journal. */
  readonly nextSequence: number;
}

export const SNAPSHOT_FORMAT = 1;
/**
 * The journal's own fdatasync waits for at most so much of the snapshot; with 4 MiB one in ten took
 * twice as long.
 */
const SYNC_EVERY_BYTES = 256 << 10;

/** @param json the document as JSON already */
export const snapshotLine = (collection: string, json: string): string =>
  `[${JSON.stringify(collection)},${json}]\n`;

/** Writes one snapshot, whole lines at a time; whoever began it closes the file. */
export class SnapshotFile {
  private readonly file: StoreFile;
  private length = 0;
  private synced = 0;
  private crc = 0;
  private count = 0;

  private constructor(file: StoreFile) {
    this.file = file;
  }

  static async begin(file: StoreFile, header: SnapshotHeader): Promise<SnapshotFile> {
    const snapshot = new SnapshotFile(file);
    await snapshot.write(`${JSON.stringify({ format: SNAPSHOT_FORMAT, ...header })}\n`);
    return snapshot;
  }

  /** @param lines so many documents, each as `snapshotLine` makes it */
  async add(lines: string | Uint8Array, documents: number): Promise<void> {
    await this.write(lines);
    this.count += documents;
  }

  /** @returns its length in bytes, once all of it is durable */
  async finish(): Promise<number> {
    await this.write(`${JSON.stringify({ count: this.count, crc: this.crc })}\n`);
    await this.file.sync();
    return this.length;
  }

  private async write(text: string | Uint8Array): Promise<void> {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    await this.file.write(bytes, this.length);
    this.crc = crc32(bytes, this.crc);
    this.length += bytes.length;
    if (this.length - this.synced < SYNC_EVERY_BYTES) return;
    await this.file.sync();
    this.synced = this.length;
  }
}
