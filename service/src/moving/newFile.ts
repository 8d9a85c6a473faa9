import { randomUUID } from 'node:crypto';
import { link, lstat, open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { inWords } from '../store/lowdb/errors.ts';
import { nodeFiles } from '../store/lowdb/index.ts';

/** The error codes of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/**
 * Creates a file that only its owner may read. The name appears only when the whole file is on the
 * disk.
 * @param fill writes the file; when it returns false, no file is created
 * @throws Error when the name is taken or the disk fails; then no file is created
 */
export async function makeNewFile(
  path: string,
  fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<boolean>,
): Promise<void> {
  if (await exists(path)) throw alreadyExists(path);
  const temporary = `${path}.${randomUUID()}.part`;
  const file = await orCannotWrite(path, open(temporary, 'wx', 0o600));
  try {
    if (!(await fillAndClose(file, path, fill))) return;
    await publish(temporary, path);
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
  try {
    await nodeFiles.syncFolder(dirname(path));
  } catch (error) {
    await rm(path, { force: true }).catch(() => {});
    throw cannotWrite(path, error);
  }
}

async function fillAndClose(
  file: FileHandle,
  path: string,
  fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<boolean>,
): Promise<boolean> {
  try {
    const isWanted = await fill((piece) => orCannotWrite(path, file.writeFile(piece)));
    if (isWanted) await orCannotWrite(path, file.sync());
    return isWanted;
  } finally {
    await file.close();
  }
}

/** Gives the file its name. Unlike a rename, a hard link replaces no file that appeared since. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || (await exists(path))) throw alreadyExists(path);
    if (code === undefined || !NO_LINKS.has(code)) throw cannotWrite(path, error);
    await orCannotWrite(path, rename(temporary, path));
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const alreadyExists = (path: string) =>
  new Error(
    `${path} already exists, and an export never replaces a file. Remove it, or give another name.`,
  );

const cannotWrite = (path: string, error: unknown) =>
  new Error(`${path} cannot be written: ${inWords(error)}. No file was created.`, {
    cause: error,
  });

async function orCannotWrite<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
