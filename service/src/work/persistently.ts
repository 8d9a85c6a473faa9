import { StoreUnavailable } from '../store/store.ts';

const AGAIN_MS = 500;

/**
 * Writes what has been done already, also when the store cannot write for a while: what is not on
 * record would be done twice.
 * @throws what `write` throws, StoreUnavailable after `giveUpMs`
 */
export async function persistently<T>(write: () => Promise<T>, giveUpMs: number): Promise<T> {
  const giveUpAt = performance.now() + giveUpMs;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
