import type { Files } from '../../../service/src/store/lowdb/index.ts';
import { nodeFiles } from '../../../service/src/store/lowdb/index.ts';

/** A point in the store's dealings with the disk. */
export interface DyingPoint {
  readonly operation: 'open' | 'write' | 'sync' | 'rename' | 'remove' | 'syncFolder';
  /** A part of the file's name. */
  readonly file: string;
  /** `half`: a write that gets half of its bytes to the file. */
  readonly moment: 'before' | 'half' | 'after';
  /** If given, the point is at or after the first write that holds this text. */
  readonly text?: string;
}

/** Real files, with one point at which something happens. */
interface DyingFiles extends Files {
  /** The first time that the store is at this point, `act` is called, before anything else is done. */
  at(point: DyingPoint, act: () => void): void;
}

export function dyingFiles(): DyingFiles {
  let armed: { readonly point: DyingPoint; readonly act: () => void } | null = null;
  let hasText = false;
  const pass = (
    operation: DyingPoint['operation'],
    path: string,
    moment: DyingPoint['moment'],
  ): void => {
    if (
      armed === null ||
      operation !== armed.point.operation ||
      moment !== armed.point.moment ||
      !path.includes(armed.point.file) ||
      (armed.point.text !== undefined && !hasText)
    )
      return;
    const { act } = armed;
    armed = null;
    act();
  };
  const around = async <T>(
    operation: DyingPoint['operation'],
    path: string,
    work: () => Promise<T>,
  ): Promise<T> => {
    pass(operation, path, 'before');
    const result = await work();
    pass(operation, path, 'after');
    return result;
  };
  return {
    at(point, act) {
      armed = { point, act };
      hasText = false;
    },
    open: (path, flags) =>
      around('open', path, async () => {
        const file = await nodeFiles.open(path, flags);
        return {
          write: (bytes, position) => {
            const { file: name = '', text } = armed?.point ?? {};
            // Only in the file of the point: a snapshot may hold the same text from earlier writes.
            if (text !== undefined && path.includes(name) && Buffer.from(bytes).includes(text))
              hasText = true;
            return around('write', path, async () => {
              const half = Math.floor(bytes.length / 2);
              await file.write(bytes.subarray(0, half), position);
              pass('write', path, 'half');
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
}
