import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Files, StoreFile } from '../../../platform/files.ts';

/**
 * The file beside the journal that records how far the journal goes. A start that can read less
 * knows that acknowledged data is missing, and does not mistake damage for a torn end.
 */
export const ACKNOWLEDGED = 'acknowledged.json';

/** The file always has this length, so that one write replaces it. */
const MARK_BYTES = 64;

const checksum = (nextSequence: number) => crc32(`acknowledged before frame ${nextSequence}`);

/**
 * Written after each frame's fdatasync, but synced only when the store closes. It is exact when the
 * process dies. After a loss of power it may be older, and then claims less. When it cannot be
 * written, the store goes on.
 */
export class HighWaterMark {
  private readonly file: StoreFile | null;

  private constructor(file: StoreFile | null) {
    this.file = file;
  }

  /** Call it after recovery, because the mark of the last run is replaced from then on. */
  static async open(folder: string, files: Files): Promise<HighWaterMark> {
    const path = join(folder, ACKNOWLEDGED);
    // `w` would empty the old mark and lose it if the process died right then.
    const file = await files
      .open(path, 'r+')
      .catch(() => files.open(path, 'w'))
      .catch(() => null);
    return new HighWaterMark(file);
  }

  /** @param nextSequence the number of the next frame */
  async write(nextSequence: number): Promise<void> {
    const text = JSON.stringify({ nextSequence, crc: checksum(nextSequence) });
    await this.file?.write(Buffer.from(`${text.padEnd(MARK_BYTES - 1)}\n`), 0).catch(() => {});
  }

  async close(): Promise<void> {
    await this.file?.sync().catch(() => {});
    await this.file?.close().catch(() => {});
  }
}

/** @returns the number of the first frame that may be missing; null without a readable mark */
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
