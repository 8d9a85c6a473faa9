import type { Logger } from 'pino';
import type { ServiceStore } from '../store/collections.ts';
import { StoreUnavailable } from '../store/store.ts';
import { foldAll } from './fold.ts';

/** Between two folds, the overview adds the new increments to the counters when it is opened. */
const EVERY_MS = 5_000;

/** Adds the increments to the counters: at once, and then every few seconds. */
export function startFolding(store: Pick<ServiceStore, 'transaction'>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  const fold = async (): Promise<void> => {
    try {
      await foldAll(store);
    } catch (error) {
      // The increments stay, and are added later.
      if (!(error instanceof StoreUnavailable))
        log.warn(
          { err: error },
          'the counters of the overview could not be updated; the service tries again soon',
        );
    }
    if (!isStopping) timer = setTimeout(() => (folding = fold()), EVERY_MS).unref();
  };
  let folding = fold();
  return {
    async stop(): Promise<void> {
      isStopping = true;
      clearTimeout(timer);
      await folding;
    },
  };
}
