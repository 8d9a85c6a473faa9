import { readConfig } from '../../service/src/config.ts';
import { collections, type ServiceStore } from '../../service/src/domain/collections.ts';
import { openStore, type OpenStoreOptions } from '../../service/src/store/openStore.ts';
import { silent } from '../../service/src/store/lowdb/options.ts';
import { freshStorage, type Storage } from './storage.ts';

/** Opens the service's store in a place that no service has open, or on PostgreSQL beside them. */
export const openStoreOf = (env: Storage['env'], options: Omit<OpenStoreOptions, 'log'> = {}): Promise<ServiceStore> =>
  openStore(collections, readConfig(env), { log: silent, ...options });

export interface FreshStore {
  readonly store: ServiceStore;
  readonly folder: string;
  /** Closes it and leaves nothing of it. */
  remove(): Promise<void>;
}

/** A store of the service's own collections that holds nothing yet: embedded, or on the tests' database. */
export async function openFreshStore(options: Omit<OpenStoreOptions, 'log'> = {}): Promise<FreshStore> {
  const storage = await freshStorage();
  const store = await openStoreOf(storage.env, options);
  return {
    store,
    folder: storage.folder,
    async remove() {
      await store.close();
      await storage.remove();
    },
  };
}
