import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import { countMessage, type Conversation } from '../conversation.ts';
import { newId } from '../ids.ts';
import type { Message, Sender } from '../message.ts';
import type { ConversationView } from './loadConversation.ts';

/** Stores one message and counts it in its conversation; the caller emits the events. */
export async function storeMessage(
  tx: Tx,
  view: ConversationView,
  {
    sender,
    text,
    channelMessageId,
    delivery = null,
  }: {
    sender: Sender;
    text: string;
    channelMessageId: string | null;
    delivery?: NonNullable<Message['delivery']> | null;
  },
  now: Date,
): Promise<{ conversation: Conversation; message: Message }> {
  const direction = sender.type === 'customer' ? 'inbound' : 'outbound';
  const conversation = countMessage(view.conversation, direction, now);
  const message: Message = {
    id: newId('msg'),
    workspaceId: view.workspace.id,
    conversationId: conversation.id,
    contactId: view.contact.id,
    number: conversation.messageCount,
    direction,
    sender,
    text,
    channelMessageId,
    delivery,
    createdAt: timestamp(now),
  };
  await tx.messages.put(message);
  await tx.conversations.put(conversation);
  return { conversation, message };
}
