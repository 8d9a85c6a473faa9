import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import type { Message } from '../message.ts';
import { pageOf, type Page, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';
import { peekConversation, withContacts, type ConversationView } from './loadConversation.ts';
import { findLastConversation } from './receiveMessage.ts';

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
    const newest =
      messageLimit === 0
        ? []
        : await tx.messages.find({
            where: { conversationId: id },
            orderBy: 'number',
            direction: 'desc',
            limit: messageLimit,
          });
    return { ...view, messages: newest.toReversed() };
  });

export type ConversationFilter = Partial<Pick<Conversation, 'status' | 'channel' | 'funnelStage'>>;

/** Lists the workspace's conversations, newest first. */
export const listConversations = (
  { store }: Deps,
  workspace: Workspace,
  filter: ConversationFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<ConversationView>> => {
    const found = await pageOf(page, (query) =>
      tx.conversations.find({
        where: { workspaceId: workspace.id, ...filter },
        direction: 'desc',
        ...query,
      }),
    );
    const items = (await withContacts(tx, found.items)).map(([conversation, contact]) => ({
      workspace,
      conversation,
      contact,
    }));
    return { ...found, items };
  });

/** Of the contacts with the same phone or email, the newest ones are considered. */
const MAX_CONTACTS = 200;

/**
 * Finds the conversation of the contact with this phone or email; null when there is none. Contacts
 * that their channel verified come first, then open conversations, then the newest.
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
      limit: MAX_CONTACTS,
    });
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
