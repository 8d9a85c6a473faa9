import { AppError } from '../../platform/http/errorCatalogue.ts';
import { pageOf, type Page, type PageRequest } from '../../platform/http/page.ts';
import type { Deps } from '../../platform/deps.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import type { Conversation } from '../conversation.ts';
import type { Message } from '../message.ts';
import { peekConversation, type ConversationView } from './conversations.ts';

/**
 * Lists a conversation's messages, oldest first.
 * @param since only messages of that time or later, as a stored timestamp; null for all
 * @throws not_found (404), invalid_request (400) for a cursor of another list
 */
export const listMessages = (
  { store }: Deps,
  workspace: Workspace,
  id: string,
  since: string | null,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<ConversationView & Page<Message>> => {
    const view = await peekConversation(tx, workspace, id);
    const first = since === null ? 0 : await countBefore(tx, view.conversation, since);
    const found = await pageOf(page, async ({ limit, after }) =>
      tx.messages.find({
        where: { conversationId: id },
        orderBy: 'number',
        after: { value: after ? await numberOf(tx, id, after.id) : first },
        limit,
      }),
    );
    return { ...view, ...found };
  });

/**
 * How many messages were written before a time. Messages are numbered in the order of their times
 * (unless a clock was set back), so a binary search finds the number without an index.
 */
async function countBefore(
  tx: Tx,
  { id: conversationId, messageCount }: Conversation,
  time: string,
): Promise<number> {
  let [from, to] = [0, messageCount];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const [message] = await tx.messages.find({
      where: { conversationId },
      orderBy: 'number',
      after: { value: middle },
      limit: 1,
    });
    if (message && message.createdAt < time) from = middle + 1;
    else to = middle;
  }
  return from;
}

async function numberOf(tx: Tx, conversationId: string, id: string): Promise<number> {
  const message = await tx.messages.peek(id);
  if (message?.conversationId === conversationId) return message.number;
  throw new AppError('invalid_request', 'cursor is not one that this list gave out.', {
    param: 'cursor',
  });
}
