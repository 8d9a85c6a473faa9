import { existsSync } from 'node:fs';
import type { Files } from '../../../service/src/store/lowdb/index.ts';
import { nodeFiles } from '../../../service/src/store/lowdb/index.ts';

/** A point in the store's dealings with the disk. */
export interface DyingPoint {
  readonly operation: 'open' | 'write' | 'sync' | 'rename' | 'remove' | 'syncFolder';
  /** A part of the file's name. */
  readonly file: string;
  /** `half`: a write that gets half of its bytes to the file. */
  readonly moment: 'before' | 'half' | 'after';
}

/**
 * Real files, at one of whose operations this process is killed (SIGKILL): the first at such a
 * point while a file `armed` exists.
 */
export const dyingFiles = (point: DyingPoint, armed: string): Files => {
  const die = (
    operation: DyingPoint['operation'],
    path: string,
    moment: DyingPoint['moment'],
  ): boolean =>
    operation === point.operation &&
    moment === point.moment &&
    path.includes(point.file) &&
    existsSync(armed) &&
    process.kill(process.pid, 'SIGKILL');
  const around = async <T>(
    operation: DyingPoint['operation'],
    path: string,
    work: () => Promise<T>,
  ): Promise<T> => {
    die(operation, path, 'before');
    const result = await work();
    die(operation, path, 'after');
    return result;
  };
  return {
    open: (path, flags) =>
      around('open', path, async () => {
        const file = await nodeFiles.open(path, flags);
        return {
          write: (bytes, position) =>
            around('write', path, async () => {
              const half = Math.floor(bytes.length / 2);
              await file.write(bytes.subarray(0, half), position);
              die('write', path, 'half');
              await file.write(bytes.subarray(half), position + half);
            }),
          sync: () => around('sync', path, () => file.sync()),
          truncate: (length) => file.truncate(length),
          close: () => file.close(),
        };
      }),
    rename: (from, to) => around('rename', to, () => nodeFiles.rename(from, to)),
    remove: (path) => around('remove', path, () => nodeFiles.remove(path)),
    syncFolder: (folder) => around('syncFolder', folder, () => nodeFiles.syncFolder(folder)),
  };
};
