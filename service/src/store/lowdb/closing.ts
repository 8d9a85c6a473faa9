import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Files } from './files.ts';

/**
 * What a store that closes in order leaves behind: how far its journal went. The next start then knows
 * that nothing is torn, and takes no damage at the journal's end for the end of writing. Removed before
 * the first write after a start: what a killed process leaves has none.
 */
const CLOSED = 'closed.json';

const checksum = (nextSequence: number) => crc32(`closed before frame ${nextSequence}`);

/** @param nextSequence the number that the next frame gets */
export const writeClosing = async (folder: string, nextSequence: number, files: Files): Promise<void> => {
  const file = await files.open(join(folder, CLOSED), 'w');
  try {
    await file.write(Buffer.from(`${JSON.stringify({ nextSequence, crc: checksum(nextSequence) })}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await files.syncFolder(folder);
};

/** @returns the number that the next frame gets; null when the store was not closed in order, or the note itself is damaged */
export const readClosing = async (folder: string): Promise<number | null> => {
  try {
    const { nextSequence, crc } = JSON.parse(await readFile(join(folder, CLOSED), 'utf8')) as { nextSequence: number; crc: number };
    return crc === checksum(nextSequence) ? nextSequence : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

export const removeClosing = async (folder: string, files: Files): Promise<void> => {
  await files.remove(join(folder, CLOSED));
  await files.syncFolder(folder);
};
