import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_LISTINGS = 50;

/**
 * Looks at every file of a folder that a running service writes to. When a snapshot renames or
 * removes a file in between, the folder is listed again and every file is looked at again.
 * @returns what `look` gave for each file, in the order of their names
 */
export async function eachFile<T>(
  folder: string,
  look: (path: string, name: string) => Promise<T>,
): Promise<T[]> {
  for (let listing = 1; ; listing++) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    try {
      return await Promise.all(
        files.map((file) => look(join(file.parentPath, file.name), file.name)),
      );
    } catch (error) {
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone || listing === MAX_LISTINGS) throw error;
    }
  }
}

/** All files of a folder as one text, a character for each byte. */
export const textOfFolder = async (folder: string): Promise<string> =>
  (await eachFile(folder, (path) => readFile(path, 'latin1'))).join('\n');

/** The sizes of a folder's files, in bytes. */
export const fileSizes = (folder: string): Promise<number[]> =>
  eachFile(folder, async (path) => (await stat(path)).size);

export const bytesInFolder = async (folder: string): Promise<number> =>
  (await fileSizes(folder)).reduce((sum, size) => sum + size, 0);
