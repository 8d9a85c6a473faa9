import { StoreUnavailable } from '../store/store.ts';

const AGAIN_MS = 500;
/** What a stop leaves for it. */
const LAST_TRIES_MS = 3000;

/**
 * Writes what has been done already, for as long as the store cannot write: what is not on record
 * would be done twice.
 * @param stopping from then on it gives up after three seconds
 * @throws what `write` throws, StoreUnavailable at a stop
 */
export async function persistently<T>(write: () => Promise<T>, stopping: AbortSignal): Promise<T> {
  let giveUpAt = Infinity;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (stopping.aborted) giveUpAt = Math.min(giveUpAt, performance.now() + LAST_TRIES_MS);
      if (!(error instanceof StoreUnavailable) || performance.now() >= giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
