import { writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { platform } from 'node:os';
import { linesOf, type Line } from './lines.ts';

/** An open file of the store. */
export interface StoreFile {
  /** Writes all of `bytes` at `position`. After an error, some of them may be in the file. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Resolves when everything written so far survives a loss of power. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** The file operations that change something; tests replace them with failing ones. */
export interface Files {
  /** `w`: a new or emptied file that only its owner may read. `r+`: a file that exists. */
  open(path: string, flags: 'w' | 'r+'): Promise<StoreFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Resolves when files created, renamed or removed in the folder survive a loss of power. */
  syncFolder(folder: string): Promise<void>;
}

/** Up to this size, the copy into the page cache costs less than passing it to another thread. */
const MAX_SYNCHRONOUS_BYTES = 64 << 10;

/** write(2) may write only a part, as on a nearly full disk. The next write then gets the error. */
const writeAll = async (handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const left = bytes.length - done;
    done +=
      left <= MAX_SYNCHRONOUS_BYTES
        ? writeSync(handle.fd, bytes, done, left, position + done)
        : (await handle.write(bytes, done, left, position + done)).bytesWritten;
  }
};

export const nodeFiles: Files = {
  async open(path, flags) {
    const handle = await open(path, flags, 0o600);
    return {
      write: (bytes, position) => writeAll(handle, bytes, position),
      sync: () => handle.datasync(),
      truncate: (length) => handle.truncate(length),
      close: () => handle.close(),
    };
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  async syncFolder(folder) {
    // Windows cannot open folders; NTFS journals its own metadata.
    if (platform() === 'win32') return;
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** Runs `use` on a file and closes it in any case. */
export async function withFile<T>(
  files: Files,
  path: string,
  flags: 'w' | 'r+',
  use: (file: StoreFile) => Promise<T>,
): Promise<T> {
  const file = await files.open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Cuts a file to a length. The cut survives a loss of power. */
export const cutFile = (files: Files, path: string, length: number): Promise<void> =>
  withFile(files, path, 'r+', async (file) => {
    await file.truncate(length);
    await file.sync();
  });

const CHUNK_BYTES = 256 << 10;

/** The lines of a file, many at a time. */
export async function* readLines(path: string): AsyncGenerator<readonly Line[]> {
  const handle = await open(path, 'r');
  try {
    yield* linesOf(handle.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false }));
  } finally {
    await handle.close();
  }
}
