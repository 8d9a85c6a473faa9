import type { ServiceStore } from '../domain/collections.ts';
import type { Message } from '../domain/message.ts';

/** Tells open chat streams that their contact's messages have changed. One reader of the change feed serves them all. */
export interface ChatFeed {
  /** Calls back whenever there may be something new for the contact. Returns the way to stop. */
  listen(contactId: string, listener: () => void): () => void;
}

/** @param signal ends the feed */
export function followChatMessages(store: ServiceStore, signal: AbortSignal): ChatFeed {
  const listeners = new Map<string, Set<() => void>>();

  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) for (const each of [...listeners.values()].flatMap((set) => [...set])) each();
      else if (change.collection === 'messages' && change.document) {
        for (const each of listeners.get((change.document as Message).contactId) ?? []) each();
      }
    }
  })();

  return {
    listen(contactId, listener) {
      const set = listeners.get(contactId) ?? new Set();
      listeners.set(contactId, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(contactId) === set) listeners.delete(contactId);
      };
    },
  };
}
