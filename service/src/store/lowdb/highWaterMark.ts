import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Files, StoreFile } from './files.ts';

/**
 * Says beside the journal how far it goes for certain: a start that can read less of it knows that
 * acknowledged data is missing, and takes no damage at the journal's end for the end of writing.
 */
export const ACKNOWLEDGED = 'acknowledged.json';

/**
 * The note is always of this length, so that a new one takes the place of the old one in one write.
 */
const NOTE_BYTES = 64;

const checksum = (nextSequence: number) => crc32(`acknowledged before frame ${nextSequence}`);

/**
 * Written after each frame's fdatasync and synced only when the store closes. The death of the
 * process leaves it exact; a loss of power may leave an older one, which claims less and so nothing
 * wrong. One that cannot be written hinders nothing.
 */
export class HighWaterMark {
  private readonly file: StoreFile | null;

  private constructor(file: StoreFile | null) {
    this.file = file;
  }

  /** Only after recovery: from then on the old note is replaced. */
  static async open(folder: string, files: Files): Promise<HighWaterMark> {
    const path = join(folder, ACKNOWLEDGED);
    // Emptying the old one would lose it, should the process die right then.
    const file = await files
      .open(path, 'r+')
      .catch(() => files.open(path, 'w'))
      .catch(() => null);
    return new HighWaterMark(file);
  }

  /** @param nextSequence the number that the next frame gets */
  async write(nextSequence: number): Promise<void> {
    const text = JSON.stringify({ nextSequence, crc: checksum(nextSequence) });
    await this.file?.write(Buffer.from(`${text.padEnd(NOTE_BYTES - 1)}\n`), 0).catch(() => {});
  }

  async close(): Promise<void> {
    await this.file?.sync().catch(() => {});
    await this.file?.close().catch(() => {});
  }
}

/**
 * @returns the number of the first frame that may be missing; null when there is no note, or it is
 * damaged itself
 */
export const readHighWaterMark = async (folder: string): Promise<number | null> => {
  try {
    const { nextSequence, crc } = JSON.parse(
      await readFile(join(folder, ACKNOWLEDGED), 'utf8'),
    ) as { nextSequence: number; crc: number };
    return crc === checksum(nextSequence) ? nextSequence : null;
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      error instanceof TypeError ||
      (error as NodeJS.ErrnoException).code === 'ENOENT'
    )
      return null;
    throw error;
  }
};
