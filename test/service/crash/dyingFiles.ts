import { existsSync, readFileSync } from 'node:fs';
import type { Files } from '../../../service/src/store/lowdb/index.ts';
import { nodeFiles } from '../../../service/src/store/lowdb/index.ts';

/** A point in the store's dealings with the disk. */
export interface DyingPoint {
  readonly operation: 'open' | 'write' | 'sync' | 'rename' | 'remove' | 'syncFolder';
  /** A part of the file's name. */
  readonly file: string;
  /** `half`: a write that gets half of its bytes to the file. */
  readonly moment: 'before' | 'half' | 'after';
  /** Only the write that holds this text, or what comes after it. */
  readonly text?: string;
}

/**
 * Real files, at one of whose operations this process is killed (SIGKILL): the first at the point
 * that a file names, if that file exists.
 */
export const dyingFiles = (pointFile: string): Files => {
  let hasText = false;
  const currentPoint = () =>
    existsSync(pointFile) ? (JSON.parse(readFileSync(pointFile, 'utf8')) as DyingPoint) : null;
  const die = (
    operation: DyingPoint['operation'],
    path: string,
    moment: DyingPoint['moment'],
  ): void => {
    const point = currentPoint();
    if (
      operation === point?.operation &&
      moment === point.moment &&
      path.includes(point.file) &&
      (point.text === undefined || hasText)
    )
      process.kill(process.pid, 'SIGKILL');
  };
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
          write: (bytes, position) => {
            const { file: name = '', text } = currentPoint() ?? {};
            // A snapshot holds it too, of what was written long ago.
            if (text !== undefined && path.includes(name) && Buffer.from(bytes).includes(text))
              hasText = true;
            return around('write', path, async () => {
              const half = Math.floor(bytes.length / 2);
              await file.write(bytes.subarray(0, half), position);
              die('write', path, 'half');
              await file.write(bytes.subarray(half), position + half);
            });
          },
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
