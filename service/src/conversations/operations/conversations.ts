import type { Tx } from '../../store/collections.ts';
import { isForgotten, type Contact } from '../contact.ts';
import { findByDetail, type ContactDetail } from '../contacts/findByDetail.ts';
import type { Conversation } from '../conversation.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import type { Message } from '../message.ts';
import { emitEvent, type EventDetail } from '../payload.ts';
import { newSystemNote, type NotedChange } from '../systemNote.ts';
import type { Workspace } from '../../team/index.ts';

/** A conversation with all that its wire form needs. */
export interface ConversationView {
  readonly workspace: Workspace;
  readonly conversation: Conversation;
  readonly contact: Contact;
}

/**
 * Loads a conversation that is going to be changed. It is locked until the transaction ends; its
 * contact is not.
 * @throws not_found (404), also for another workspace's conversation
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export const loadConversation = async (
  tx: Tx,
  workspace: Workspace,
  id: string,
): Promise<ConversationView> => viewOf(tx, workspace, id, await tx.conversations.get(id));

/**
 * Reads a conversation without a lock.
 * @throws not_found (404), also for another workspace's conversation
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
  // A conversation is removed together with its contact. Nobody may see what is left of a contact
  // that is being forgotten.
  const contact = conversation && (await tx.contacts.peek(conversation.contactId));
  if (contact === null || isForgotten(contact) || conversation?.workspaceId !== workspace.id)
    throw notFound('conversation', id);
  return { workspace, conversation, contact };
}

/** Each item with its contact. An item whose contact has just been removed is left out. */
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

/** As `withContacts`, without forgotten contacts: nobody may see what is left of them. */
export const withShownContacts = async <Item extends { readonly contactId: string }>(
  tx: Tx,
  items: readonly Item[],
) => (await withContacts(tx, items)).filter(([, contact]) => !isForgotten(contact));

/** The contact of a conversation; null when there is no such conversation or contact. */
export async function findContactOf(
  tx: Tx,
  conversationId: string | null,
): Promise<Contact | null> {
  const conversation = conversationId === null ? null : await tx.conversations.peek(conversationId);
  return conversation && tx.contacts.peek(conversation.contactId);
}

/**
 * Reads a conversation with its newest messages, in the order they were written.
 * @param messageLimit 0 to 200
 * @throws not_found (404)
 */
export const readConversation = (
  { store }: Deps,
  workspace: Workspace,
  id: string,
  messageLimit: number,
) =>
  store.transaction(async (tx): Promise<ConversationView & { messages: readonly Message[] }> => {
    const view = await peekConversation(tx, workspace, id);
    const newest = messageLimit === 0 ? [] : await findNewestMessages(tx, id, messageLimit);
    return { ...view, messages: newest.toReversed() };
  });

/** How many contacts with the same phone or e-mail are considered. */
export const MAX_CONTACTS = 200;

/**
 * Finds the conversation of the contact with this phone or email; null when there is none. Contacts
 * that their channel verified come first, then open conversations, then the newest.
 */
export const findConversationByContact = (
  { store }: Deps,
  workspace: Workspace,
  by: ContactDetail,
) =>
  store.transaction(async (tx): Promise<ConversationView | null> => {
    const contacts = await findByDetail(tx, workspace, by, { limit: MAX_CONTACTS });
    let best: ConversationView | null = null;
    for (const contact of contacts) {
      const conversation = await findLastConversation(tx, contact.id);
      if (!conversation) continue;
      const view = { workspace, contact, conversation };
      if (!best || isBetter(view, best)) best = view;
    }
    return best;
  });

const rank = ({ contact, conversation }: ConversationView) =>
  [contact.verified ? 1 : 0, conversation.status === 'closed' ? 0 : 1, conversation.id] as const;

function isBetter(candidate: ConversationView, best: ConversationView): boolean {
  const [a, b] = [rank(candidate), rank(best)];
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing >= 0 && a[differing]! > b[differing]!;
}

/** A contact has one open conversation at most, and it is the newest. */
export async function findLastConversation(
  tx: Tx,
  contactId: string,
): Promise<Conversation | null> {
  const [last] = await tx.conversations.find({ where: { contactId }, direction: 'desc', limit: 1 });
  return last ?? null;
}

/** More conversations than one contact has. */
const MAX_OF_CONTACT = 10_000;

/** All conversations of these contacts. */
export async function findConversationsOf(
  tx: Tx,
  contactIds: readonly string[],
): Promise<readonly Conversation[]> {
  const lists = await Promise.all(
    contactIds.map((contactId) =>
      tx.conversations.find({ where: { contactId }, limit: MAX_OF_CONTACT }),
    ),
  );
  return lists.flat();
}

/** The newest messages of a conversation, the last one first. @param limit at least 1 */
export const findNewestMessages = (
  tx: Tx,
  conversationId: string,
  limit: number,
): Promise<readonly Message[]> =>
  tx.messages.find({ where: { conversationId }, orderBy: 'number', direction: 'desc', limit });

/** Saves a change of a conversation, with its note in the thread and its event if it has one. */
export async function putChange(
  tx: Tx,
  view: ConversationView,
  conversation: Conversation,
  { change, actor, event }: { change: NotedChange; actor: Actor; event?: EventDetail | null },
  now: Date,
): Promise<Conversation> {
  await tx.conversations.put(conversation);
  await tx.systemNotes.put(newSystemNote(conversation, change, actor, now));
  if (event) await emitEvent(tx, event, { ...view, conversation }, now);
  return conversation;
}
