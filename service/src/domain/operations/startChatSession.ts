import { hashToken, newChatToken } from '../../security/tokens.ts';
import { WEB_CHAT } from '../channel.ts';
import { timestamp } from '../clock.ts';
import type { Contact } from '../contact.ts';
import type { Deps } from '../deps.ts';
import { newId } from '../ids.ts';
import type { Workspace } from '../workspace.ts';

/**
 * A visitor arrives in the web chat. What they say of themselves is a claim: a session always makes
 * a new contact, never merged with another.
 * @returns the token that reads and writes this contact's conversations, and nothing else
 */
export const startChatSession = (
  { store, clock }: Deps,
  workspace: Workspace,
  claims: Pick<Contact, 'name' | 'phone' | 'email'>,
) => {
  const token = newChatToken();
  return store.transaction(async (tx): Promise<{ token: string; contact: Contact }> => {
    const createdAt = timestamp(clock.now());
    const contact: Contact = {
      id: newId('ctc'),
      workspaceId: workspace.id,
      channel: WEB_CHAT,
      ...claims,
      verified: false,
      createdAt,
    };
    await tx.contacts.put(contact);
    await tx.chatSessions.put({
      id: hashToken(token),
      workspaceId: workspace.id,
      contactId: contact.id,
      createdAt,
    });
    return { token, contact };
  });
};
