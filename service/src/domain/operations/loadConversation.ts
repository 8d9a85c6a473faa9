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

/** @throws not_found (404), also for another workspace's conversation */
export async function loadConversation(tx: Tx, workspace: Workspace, id: string): Promise<ConversationView> {
  const conversation = await tx.conversations.get(id);
  if (!conversation || conversation.workspaceId !== workspace.id) throw notFound('conversation', id);
  return { workspace, conversation, contact: await getContact(tx, conversation.contactId) };
}

/** @throws Error when there is none: a conversation always has its contact */
export async function getContact(tx: Tx, id: string): Promise<Contact> {
  const contact = await tx.contacts.get(id);
  if (!contact) throw new Error(`contact ${id} is missing`);
  return contact;
}
