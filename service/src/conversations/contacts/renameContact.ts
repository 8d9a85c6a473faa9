import type { Deps } from '../../platform/deps.ts';
import type { Workspace } from '../../team/index.ts';
import type { Contact } from '../contact.ts';
import { loadConversation } from '../operations/conversations.ts';

/**
 * Sets the name of a conversation's contact. A name from the channel no longer replaces it.
 * @param name 1 to MAX_CONTACT_NAME_CHARACTERS characters; null removes the name, and the channel
 * may set one again
 * @throws not_found (404)
 */
export const renameContact = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  conversationId: string,
  name: string | null,
) =>
  store.transaction(async (tx): Promise<Contact> => {
    // The contact is locked before the conversation.
    const known = await tx.conversations.peek(conversationId);
    if (known) await tx.contacts.get(known.contactId);
    const { contact } = await loadConversation(tx, workspace, conversationId);
    // False, not left out: open lists learn by it that a name was removed.
    const renamed = { ...contact, name, isNamedByTeam: name !== null };
    await tx.contacts.put(renamed);
    return renamed;
  });
