import { hashToken, newChatToken } from '../../platform/security/tokens.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import {
  type Contact,
  type Conversation,
  findLastConversation,
  isForgotten,
  WEB_CHAT,
  type Message,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { newId } from '../../platform/ids.ts';
import type { Workspace } from '../../team/index.ts';

/**
 * Starts a web chat. What visitors say about themselves is a claim, so each session makes a contact
 * of its own.
 * @returns the token, which gives access to this contact's conversations only
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

/** Finds the visitor of a chat token; null when the token is unknown or the contact forgotten. */
export const findChatVisitor = ({ store }: Pick<Deps, 'store'>, token: string) =>
  store.transaction(async (tx): Promise<{ workspace: Workspace; contact: Contact } | null> => {
    const session = await tx.chatSessions.peek(hashToken(token));
    if (!session) return null;
    const [workspace, contact] = await Promise.all([
      tx.workspaces.peek(session.workspaceId),
      tx.contacts.peek(session.contactId),
    ]);
    return workspace && contact && !isForgotten(contact) ? { workspace, contact } : null;
  });

/**
 * A visitor's messages in the order they were written, over all their conversations.
 * @param afterMessageId lists what came after this message; null, or not the visitor's: everything
 */
export const listChatMessages = (
  { store }: Pick<Deps, 'store'>,
  contactId: string,
  afterMessageId: string | null,
  limit: number,
) =>
  store.transaction(async (tx): Promise<readonly Message[]> => {
    const last = afterMessageId === null ? null : await tx.messages.peek(afterMessageId);
    const known = last?.contactId === contactId ? last : null;
    const messages: Message[] = [];
    if (known)
      messages.push(
        ...(await tx.messages.find({
          where: { conversationId: known.conversationId },
          orderBy: 'number',
          after: { value: known.number },
          limit,
        })),
      );
    let conversationId = known?.conversationId ?? null;
    while (messages.length < limit) {
      const [next] = await tx.conversations.find({
        where: { contactId },
        ...(conversationId === null ? {} : { after: { value: conversationId } }),
        limit: 1,
      });
      if (!next) break;
      messages.push(
        ...(await tx.messages.find({
          where: { conversationId: next.id },
          orderBy: 'number',
          limit: limit - messages.length,
        })),
      );
      conversationId = next.id;
    }
    return messages;
  });

/**
 * A visitor's newest conversation if it is closed, so that their next message opens another one.
 * @returns null when the newest one is open, or when there is none
 */
export async function findClosedConversation(
  tx: Tx,
  contactId: string,
): Promise<Conversation | null> {
  const newest = await findLastConversation(tx, contactId);
  return newest?.status === 'closed' ? newest : null;
}
