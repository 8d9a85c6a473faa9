import type { ServiceStore } from '../../store/collections.ts';
import { KeyedListeners } from './keyedListeners.ts';

/**
 * Waits until a document is in the state that the caller wants. Resolves when `isDone` returns
 * true, the time is over, or the service stops.
 * @param isDone called at once, and after each change of the document
 * @throws what `isDone` throws
 */
export type FollowDocument = (
  id: string,
  isDone: () => Promise<boolean>,
  timeoutMs: number,
) => Promise<void>;

/**
 * Serves all callers with one reader of the change feed, which the first caller starts.
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
    const check = () => void isDone().then((done) => done && end(), reject);
    const stopListening = listeners.listen(id, check);
    const timer = setTimeout(end, timeoutMs);
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    check(); // listening has begun, so no change is missed
    try {
      await promise;
    } finally {
      stopListening();
      clearTimeout(timer);
      stopping.removeEventListener('abort', end);
    }
  };
}
