import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import type { Deps } from '../deps.ts';
import type { Workspace } from '../workspace.ts';
import type { ConversationView } from './loadConversation.ts';

/** How many contacts that claim the same phone or e-mail are looked at, the newest ones. */
const CONTACTS_CONSIDERED = 200;

/**
 * The conversation of the contact with this phone or e-mail; null when there is none. Contacts that
 * their channel verified come before ones that only claim it, then open conversations, then the
 * newest.
 * @param by in the stored spelling: see normalizePhone and normalizeEmail
 */
export const findConversationByContact = (
  { store }: Deps,
  workspace: Workspace,
  by: { phone: string } | { email: string },
) =>
  store.transaction(async (tx): Promise<ConversationView | null> => {
    const contacts = await tx.contacts.find({
      where: { workspaceId: workspace.id, ...by },
      direction: 'desc',
      limit: CONTACTS_CONSIDERED,
    });
    let best: ConversationView | null = null;
    for (const contact of contacts) {
      const view = await newestConversation(tx, workspace, contact);
      if (view && (!best || isBetter(view, best))) best = view;
    }
    return best;
  });

/** A contact has one open conversation at most, and it is the newest. */
async function newestConversation(
  tx: Tx,
  workspace: Workspace,
  contact: Contact,
): Promise<ConversationView | null> {
  const [conversation] = await tx.conversations.find({
    where: { contactId: contact.id },
    direction: 'desc',
    limit: 1,
  });
  return conversation ? { workspace, contact, conversation } : null;
}

const rank = ({ contact, conversation }: ConversationView) =>
  [contact.verified ? 1 : 0, conversation.status === 'closed' ? 0 : 1, conversation.id] as const;

function isBetter(candidate: ConversationView, best: ConversationView): boolean {
  const [a, b] = [rank(candidate), rank(best)];
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing >= 0 && a[differing]! > b[differing]!;
}
