import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import nativeFiles from 'fs-native-extensions';
import { FolderInUse } from './errors.ts';

export interface FolderLock {
  release(): Promise<void>;
}

/** The locked byte lies after the process id, because on Windows a locked byte cannot be read. */
const LOCKED_BYTE = 4096;

/**
 * Locks the folder for this process. The operating system drops the lock when the process ends,
 * however it ends, so a restart right after kill -9 works. The lock belongs to the open file, so a
 * second store in the same process is refused too.
 * @throws FolderInUse
 */
export const lockFolder = async (folder: string): Promise<FolderLock> => {
  const handle = await open(join(folder, 'lock'), 'a+', 0o600);
  try {
    if (!nativeFiles.tryLock(handle.fd, LOCKED_BYTE, 1))
      throw new FolderInUse(folder, await readPid(handle));
    await handle.truncate(0);
    await handle.appendFile(`${process.pid}\n`);
  } catch (error) {
    await handle.close();
    throw error;
  }
  // Closing drops the lock. The file stays: if it were removed, two processes could lock two
  // different files of the same name.
  return { release: () => handle.close() };
};

const readPid = async (handle: FileHandle): Promise<number | null> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(32), 0, 32, 0);
  const pid = Number.parseInt(buffer.toString('latin1', 0, bytesRead), 10);
  return Number.isNaN(pid) ? null : pid;
};
