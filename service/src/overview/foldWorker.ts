import type { Logger } from 'pino';
import type { ServiceStore } from '../store/collections.ts';
import { StoreUnavailable } from '../store/store.ts';
import { foldAll } from './fold.ts';

/** Between two folds, a page adds up by itself what was counted since. */
const EVERY_MS = 5_000;

/** Adds up what was counted, at the start and then every few seconds. */
export function startFolding(store: Pick<ServiceStore, 'transaction'>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  const fold = async (): Promise<void> => {
    try {
      await foldAll(store);
    } catch (error) {
      // What could not be added up stays, and is added up later.
      if (!(error instanceof StoreUnavailable))
        log.warn({ err: error }, 'what was counted could not be added up; it is tried again soon');
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
