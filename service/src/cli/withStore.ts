import { readConfig } from '../config.ts';
import { collections, type ServiceStore } from '../domain/collections.ts';
import { createLogger } from '../service.ts';
import { openLowdbStore } from '../store/lowdb/index.ts';

/** Opens the data folder for one command. @throws FolderInUse naming the process, when a running service holds it */
export async function withStore<T>(run: (store: ServiceStore) => Promise<T>): Promise<T> {
  const store = await openLowdbStore(collections, { folder: readConfig(process.env).dataDir, log: createLogger('warn') });
  try {
    return await run(store);
  } finally {
    await store.close();
  }
}
