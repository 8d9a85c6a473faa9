import type { ServiceStore } from '../domain/collections.ts';
import type { Message } from '../domain/message.ts';
import { KeyedListeners } from './keyedListeners.ts';

/**
 * Tells open chat streams that their contact's messages have changed. One reader of the change feed
 * serves them all.
 */
export interface ChatFeed {
  /** Calls back whenever there may be something new for the contact. Returns the way to stop. */
  listen(contactId: string, listener: () => void): () => void;
  /** Whether the contact has a stream open here. */
  has(contactId: string): boolean;
}

/** @param signal ends the feed */
export function followChatMessages(store: ServiceStore, signal: AbortSignal): ChatFeed {
  const listeners = new KeyedListeners<void>();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) listeners.tellAll();
      else if (change.collection === 'messages' && change.document)
        listeners.tell((change.document as Message).contactId);
    }
  })();
  return listeners;
}
