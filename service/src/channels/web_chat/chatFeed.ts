import type { ServiceStore } from '../../store/collections.ts';
import type { Conversation, Message } from '../../conversations/index.ts';
import type { Change } from '../../store/store.ts';
import { KeyedListeners } from '../../platform/http/keyedListeners.ts';

/** Tells open chat streams when what their contact sees may have changed. */
export interface ChatFeed {
  /**
   * Calls back whenever the contact may have new messages, somebody begins or stops typing, or the
   * conversation may have closed.
   * @returns a function that stops listening
   */
  listen(contactId: string, listener: () => void): () => void;
  /** Whether the contact has a stream open in this process. */
  has(contactId: string): boolean;
}

/** @param signal ends the feed */
export function followChats(store: ServiceStore, signal: AbortSignal): ChatFeed {
  const listeners = new KeyedListeners<void>();
  void (async () => {
    for await (const change of store.changes({ signal })) {
      if ('gap' in change) listeners.tellAll();
      else {
        const contactId = contactOf(change as Change);
        if (contactId !== null) listeners.tell(contactId);
      }
    }
  })();
  return listeners;
}

/** The contact whose chat may have to show something else; null when there is none. */
function contactOf({ collection, id, document }: Change): string | null {
  if (collection === 'typings') return id; // a typing has the id of its contact
  if (document === null) return null;
  if (collection === 'messages') return (document as Message).contactId;
  if (collection !== 'conversations') return null;
  // When the agent loses control, its typing ends; a closed conversation is shown as closed.
  const { contactId, status } = document as Conversation;
  return status === 'ai_active' ? null : contactId;
}
