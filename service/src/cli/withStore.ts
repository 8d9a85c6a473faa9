import { readConfig, type Config } from '../config.ts';
import { WORK_QUEUES } from '../domain/workQueues.ts';
import { collections, type ServiceStore } from '../domain/collections.ts';
import type { Logger } from '../store/options.ts';
import { openStore, type OpenStoreOptions } from '../store/openStore.ts';

/** Standard output belongs to what the command gives. */
const say = (message: string): void => void process.stderr.write(`${message}\n`);
const log: Logger = { info() {}, warn: say, error: say };

/**
 * Opens the store that the environment names, for one command. It takes no part in the work.
 * @throws FolderInUse naming the process, when a running service holds the data folder
 */
export async function withStore<T>(
  run: (store: ServiceStore, config: Config) => Promise<T>,
  postgres: OpenStoreOptions['postgres'] = {},
): Promise<T> {
  const config = readConfig(process.env);
  const store = await openStore(collections, config, {
    log,
    queues: WORK_QUEUES,
    postgres: { works: false, connections: 2, ...postgres },
  });
  try {
    return await run(store, config);
  } finally {
    await store.close();
  }
}
