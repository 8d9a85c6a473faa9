import type { Deps } from '../deps.ts';
import type { Message } from '../message.ts';
import type { Workspace } from '../workspace.ts';
import { peekConversation, type ConversationView } from './loadConversation.ts';

/**
 * A conversation with its newest messages, oldest of them first.
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
