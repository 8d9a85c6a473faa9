import { timestamp } from '../platform/clock.ts';
import type { Deps } from '../platform/deps.ts';
import type { Document } from '../store/store.ts';
import type { Tx } from '../store/collections.ts';
import type { Contact } from './contact.ts';
import type { Conversation } from './conversation.ts';

/**
 * A turn of the agent is running, and the customer sees that somebody is typing. The document has
 * the contact's id, and is removed when the turn ends or is suspended.
 */
export interface Typing extends Document {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** When the turn ends at the latest. After that time, the document is ignored. */
  readonly until: string;
}

/** Shows the customer that somebody is typing, until the turn ends. */
export async function beginTyping(
  tx: Tx,
  { messaging }: Pick<Deps, 'messaging'>,
  { conversation, contact }: { conversation: Conversation; contact: Contact },
  until: Date,
  now: Date,
): Promise<void> {
  await tx.typings.put({
    id: contact.id,
    workspaceId: conversation.workspaceId,
    conversationId: conversation.id,
    until: timestamp(until),
  });
  await messaging.queueTyping(tx, contact, now);
}

/** The customer no longer sees that somebody is typing: the turn has ended or is suspended. */
export const endTyping = async (tx: Tx, contactId: string): Promise<void> =>
  void (await tx.typings.delete(contactId));

/** The contact's running turn; null when there is none, or when a person took over. */
export async function findTyping(tx: Tx, contactId: string, now: Date): Promise<Typing | null> {
  const typing = await tx.typings.peek(contactId);
  if (!typing || Date.parse(typing.until) <= now.getTime()) return null;
  const conversation = await tx.conversations.peek(typing.conversationId);
  return conversation?.status === 'ai_active' ? typing : null;
}
