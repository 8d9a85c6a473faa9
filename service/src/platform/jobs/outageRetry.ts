import { StoreUnavailable } from '../../store/store.ts';

const RETRY_EVERY_MS = 500;
/** How long retries go on after the first failure during a stop. */
const LAST_RETRIES_MS = 3000;

/** Runs a read or write, and runs it again while the store is unavailable. */
export type Retry = <T>(action: () => Promise<T>) => Promise<T>;

/**
 * Retries while the store is unavailable, because an attempt that is not recorded would be
 * repeated. During a stop, all retries end three seconds after the first failure, and the error is
 * thrown.
 */
export function retryThroughOutage(stopping: AbortSignal): Retry {
  let giveUpAt = Infinity;
  return async (action) => {
    for (;;) {
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (stopping.aborted) giveUpAt = Math.min(giveUpAt, performance.now() + LAST_RETRIES_MS);
        if (performance.now() >= giveUpAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS));
      }
    }
  };
}
