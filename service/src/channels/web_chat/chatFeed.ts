import type { ServiceStore } from '../../store/collections.ts';
import type { Message } from '../../conversations/index.ts';
import { KeyedListeners } from '../../platform/http/keyedListeners.ts';

/** Tells open chat streams about changes to their contact's messages, from one reader of the change feed. */
export interface ChatFeed {
  /** Calls back whenever the contact may have new messages. @returns a function that stops listening */
  listen(contactId: string, listener: () => void): () => void;
  /** Whether the contact has a stream open in this process. */
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
