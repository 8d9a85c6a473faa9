import type { ServiceStore } from '../../store/collections.ts';
import { KeyedListeners } from './keyedListeners.ts';

/**
 * Waits until a document is as it is wanted.
 * @param isDone is asked now and after each change of the document
 * @returns when `isDone` said yes, the time is over, or the service stops
 * @throws what `isDone` throws
 */
export type FollowDocument = (
  id: string,
  isDone: () => Promise<boolean>,
  timeoutMs: number,
) => Promise<void>;

/**
 * Serves all that wait with one reader of the change feed, which the first of them starts.
 * @param stopping ends all waiting
 */
export function followDocuments(
  store: Pick<ServiceStore, 'changes'>,
  stopping: AbortSignal,
): FollowDocument {
  const listeners = new KeyedListeners<undefined>();
  const readChanges = async () => {
    for await (const change of store.changes({ signal: stopping })) {
      if ('gap' in change) listeners.tellAll(undefined);
      else listeners.tell(change.id, undefined);
    }
  };
  let reading: Promise<void> | undefined;

  return async (id, isDone, timeoutMs) => {
    reading ??= readChanges();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const end = () => resolve(undefined);
    const look = () => void isDone().then((done) => done && end(), reject);
    const stop = listeners.listen(id, look);
    const timer = setTimeout(end, timeoutMs);
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    look(); // listening has begun, so no change is missed
    try {
      await promise;
    } finally {
      stop();
      clearTimeout(timer);
      stopping.removeEventListener('abort', end);
    }
  };
}
