import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import { countMessage, type Actor, type Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { emitEvent } from '../emitEvent.ts';
import { newId } from '../ids.ts';
import type { Message, Sender } from '../message.ts';
import type { ConversationView } from './loadConversation.ts';
import { queueOutbound } from './outboundMessages.ts';

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

/**
 * Stores a message to the customer, owes it to the conversation's channel and emits `message.sent`,
 * all in the caller's transaction.
 */
export async function storeReply(
  tx: Tx,
  deps: Pick<Deps, 'channels'>,
  view: ConversationView,
  { text, actor }: { text: string; actor: Actor },
  now: Date,
) {
  const isSent = deps.channels.capabilitiesOf(view.conversation.channel).isSent;
  const delivery = isSent ? ({ state: 'pending', error: null } as const) : null;
  const written = await storeMessage(
    tx,
    view,
    { sender: actor, text, channelMessageId: null, delivery },
    now,
  );
  const stored = isSent
    ? { ...written, message: await queueOutbound(tx, deps, { ...view, ...written }, now) }
    : written;
  await emitEvent(
    tx,
    { name: 'message.sent', message: stored.message },
    { ...view, ...stored },
    now,
  );
  return stored;
}
