import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import {
  answered,
  assertOpen,
  countMessage,
  isCustomerWaiting,
  noteFirstAnswer,
  type Conversation,
} from '../conversation.ts';
import { countAnswer } from '../counted.ts';
import type { Actor } from '../../platform/actor.ts';
import type { Deps } from '../../platform/deps.ts';
import { newId } from '../../platform/ids.ts';
import { isLateAnswer, type Message, type MessageExtras } from '../message.ts';
import { emitEvent } from '../payload.ts';
import type { Workspace } from '../../team/index.ts';
import { giveToPerson, lockActor } from './control.ts';
import { loadConversation, type ConversationView } from './conversations.ts';

/**
 * Sends a message to the customer as a person (or a system acting for one): the agent pauses
 * exactly as with a take-over, `conversation.handed_over` included, then `message.sent` is emitted.
 * @param text 1 to MAX_REPLY_CHARACTERS characters
 * @param pausesAgent with false the message goes out beside the agent: control stays where it is,
 * and the agent still answers what the customer wrote
 * @throws conversation_closed, outside_messaging_window, channel_removed (409), not_found (404)
 */
export const sendMessage = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  text: string,
  actor: Actor,
  { pausesAgent = true }: { pausesAgent?: boolean } = {},
) =>
  deps.store.transaction(async (tx): Promise<ConversationView & { message: Message }> => {
    const now = deps.clock.now();
    await lockActor(tx, actor);
    const view = await loadConversation(tx, workspace, id);
    assertOpen(view.conversation);
    await deps.messaging.assertReachable(tx, view.contact, now);
    const reason = actor.type === 'api' ? 'api_message' : 'team_takeover';
    const wasWaiting = isCustomerWaiting(view.conversation);
    const conversation = pausesAgent
      ? await giveToPerson(tx, deps, view, { reason, actor, wasWaiting }, now)
      : view.conversation;
    const reply = { text, actor, ...(pausesAgent ? {} : { isBesideAgent: true }) };
    return { ...view, ...(await storeReply(tx, deps, { ...view, conversation }, reply, now)) };
  });

/** Stores one message and counts it in its conversation; the caller emits the events. */
export async function storeMessage(
  tx: Tx,
  view: ConversationView,
  {
    sender,
    text,
    channelMessageId,
    delivery = null,
    ...extras
  }: Pick<Message, 'sender' | 'text' | 'channelMessageId' | 'delivery'> & MessageExtras,
  now: Date,
): Promise<{ conversation: Conversation; message: Message }> {
  const direction = sender.type === 'customer' ? 'inbound' : 'outbound';
  const counted = countMessage(view.conversation, direction, now);
  const conversation = direction === 'outbound' ? afterAnswer(counted, extras, now) : counted;
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
    ...extras,
    createdAt: timestamp(now),
  };
  await tx.messages.put(message);
  await tx.conversations.put(conversation);
  await countAnswer(tx, view.conversation, message, now);
  return { conversation, message };
}

/** The conversation after a message to the customer, which may answer nothing. */
function afterAnswer(conversation: Conversation, extras: MessageExtras, now: Date): Conversation {
  if (!extras.isBesideAgent) return answered(conversation, now);
  // The customer may still wait because of a newer message.
  return isLateAnswer(extras) ? noteFirstAnswer(conversation, now) : conversation;
}

/**
 * Stores a message to the customer, queues it for the contact's channel and emits `message.sent`,
 * all in the caller's transaction.
 */
export async function storeReply(
  tx: Tx,
  { messaging }: Pick<Deps, 'messaging'>,
  view: ConversationView,
  { text, actor, ...extras }: { text: string; actor: Actor } & MessageExtras,
  now: Date,
) {
  const isSentByAdapter = messaging.isSentByAdapter(view.contact);
  const delivery = isSentByAdapter ? ({ state: 'pending', error: null } as const) : null;
  const written = await storeMessage(
    tx,
    view,
    { sender: actor, text, channelMessageId: null, delivery, ...extras },
    now,
  );
  const stored = isSentByAdapter
    ? { ...written, message: await messaging.queue(tx, { ...view, ...written }, now) }
    : written;
  await emitEvent(
    tx,
    { name: 'message.sent', message: stored.message },
    { ...view, ...stored },
    now,
  );
  return stored;
}
