import type { Schema, Store } from '../store.ts';
import { nodeFiles } from '../../platform/files.ts';
import { makeFolder, lockFolder } from './journal/folder.ts';
import { LowdbStore } from './lowdbStore.ts';
import type { LowdbOptions } from './options.ts';

export { copyDataFolder, fillDataFolder } from './copyFolder.ts';
export { FolderInUse, StoreDamaged } from './errors.ts';
export type { Files, StoreFile } from '../../platform/files.ts';
export { nodeFiles } from '../../platform/files.ts';
export type { LowdbOptions } from './options.ts';

/**
 * Opens the embedded store on a folder of its own: lowdb in memory, a journal and snapshots on
 * disk.
 * @throws FolderInUse when a process has it open already, naming that process
 * @throws StoreDamaged when acknowledged data cannot be read, naming file, position and the way out
 */
export const openLowdbStore = async <S extends Schema>(
  schema: S,
  options: LowdbOptions,
): Promise<Store<S>> => {
  const files = options.files ?? nodeFiles;
  await makeFolder(options.folder, files);
  const lock = await lockFolder(options.folder);
  try {
    return await LowdbStore.open(schema, options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
};
