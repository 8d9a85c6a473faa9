import { readConfig } from '../../service/src/app/config.ts';
import { collections } from '../../service/src/app/collections.ts';
import type { ServiceStore } from '../../service/src/store/collections.ts';
import type { SteadyClock } from '../../service/src/platform/clock.ts';
import { WORK_QUEUES } from '../../service/src/app/workQueues.ts';
import { silent } from '../../service/src/store/clockAndLog.ts';
import { openStore } from '../../service/src/store/openStore.ts';
import { freshStorage, type Storage } from './storage.ts';
import { databaseClock } from './testClock.ts';

interface StoreOptions {
  /** What the store tells the time by; on PostgreSQL, the database's clock follows it. */
  readonly clock?: SteadyClock;
}

/** Opens the service's store in a place that no service has open. */
export const openStoreOf = (
  env: Storage['env'],
  { clock }: StoreOptions = {},
): Promise<ServiceStore> =>
  openStore(collections, readConfig(env), {
    log: silent,
    queues: WORK_QUEUES,
    ...(clock && { embedded: { clock }, postgres: { clock, databaseNow: databaseClock(clock) } }),
  });

export interface FreshStore {
  readonly store: ServiceStore;
  readonly folder: string;
  /** Closes it and removes what it stored. */
  remove(): Promise<void>;
}

/**
 * A store of the service's own collections that holds nothing yet: embedded, or on the tests'
 * database.
 */
export async function openFreshStore(options: StoreOptions = {}): Promise<FreshStore> {
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
