import { readConfig, type Config } from '../config.ts';
import { collections, type ServiceStore } from '../domain/collections.ts';
import { createLogger } from '../service.ts';
import { openStore, type OpenStoreOptions } from '../store/openStore.ts';

/**
 * Opens the store that the environment names, for one command. It takes no part in the work.
 * @throws FolderInUse naming the process, when a running service holds the data folder
 */
export async function withStore<T>(run: (store: ServiceStore, config: Config) => Promise<T>, postgres: OpenStoreOptions['postgres'] = {}): Promise<T> {
  const config = readConfig(process.env);
  const store = await openStore(collections, config, { log: createLogger('warn'), postgres: { works: false, connections: 2, ...postgres } });
  try {
    return await run(store, config);
  } finally {
    await store.close();
  }
}
