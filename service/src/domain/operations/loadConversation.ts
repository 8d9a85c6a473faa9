import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import type { Conversation } from '../conversation.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';

/** A conversation with all that its wire form needs. */
export interface ConversationView {
  readonly workspace: Workspace;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/**
 * For changing it: the conversation is locked until the transaction ends, its contact is not.
 * @throws not_found (404), also for another workspace's conversation
 * @see docs/decisions/0033
 */
export const loadConversation = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<ConversationView> => viewOf(tx, workspace, id, await tx.conversations.get(id));

/**
 * As it stands, without a lock. @throws not_found (404), also for another workspace's conversation
 */
export const peekConversation = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<ConversationView> => viewOf(tx, workspace, id, await tx.conversations.peek(id));

async function viewOf(
  tx: Tx,
  workspace: Workspace,
  id: string,
  conversation: Conversation | null,
): Promise<ConversationView> {
  // Contact and conversation are removed together: without the one, the other is not there any
  // more.
  const contact = conversation && (await tx.contacts.peek(conversation.contactId));
  if (contact === null || conversation?.workspaceId !== workspace.id)
    throw notFound('conversation', id);
  return { workspace, conversation, contact };
}

/**
 * What of a list still has its contact, with that: what is removed at that moment may be found
 * without.
 */
export async function withContacts<Item extends { readonly contactId: string }>(
  tx: Tx,
  items: readonly Item[],
): Promise<readonly (readonly [Item, Contact])[]> {
  const found: (readonly [Item, Contact])[] = [];
  for (const item of items) {
    const contact = await tx.contacts.peek(item.contactId);
    if (contact) found.push([item, contact]);
  }
  return found;
}
