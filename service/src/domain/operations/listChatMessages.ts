import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import type { Message } from '../message.ts';

/**
 * A visitor's messages in the order they were written, over all their conversations.
 * @param afterMessageId only what came after it; from the beginning when null or not theirs
 */
export const listChatMessages = (
  { store }: Pick<Deps, 'store'>,
  contactId: string,
  afterMessageId: string | null,
  limit: number,
) => store.transaction((tx) => chatMessages(tx, contactId, afterMessageId, limit));

async function chatMessages(
  tx: Tx,
  contactId: string,
  afterMessageId: string | null,
  limit: number,
): Promise<readonly Message[]> {
  const last = afterMessageId === null ? null : await tx.messages.peek(afterMessageId);
  const known = last?.contactId === contactId ? last : null;
  const messages: Message[] = known
    ? [
        ...(await tx.messages.find({
          where: { conversationId: known.conversationId },
          orderBy: 'number',
          after: { value: known.number },
          limit,
        })),
      ]
    : [];
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
}
