import type { Tx } from '../../store/collections.ts';
import { isForgotten, type Contact } from '../contact.ts';
import { openConversation, type Conversation } from '../conversation.ts';
import { countOpened } from '../counted.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { Message } from '../message.ts';
import { emitEvent } from '../payload.ts';
import type { Workspace } from '../../team/index.ts';
import { findLastConversation } from './conversations.ts';
import { storeMessage } from './sendMessage.ts';

/**
 * A customer wrote. The message joins the contact's open conversation; when there is none (or the
 * last one is closed) a new one opens first, and `conversation.opened` is emitted before
 * `message.received`. The same `channelMessageId` of the same contact is the same message: nothing
 * is stored or emitted twice. The agent reads it once the customer has been quiet for a moment.
 * @param text 1 to MAX_MESSAGE_CHARACTERS characters
 * @throws unauthorized (401) when the visitor has been removed
 */
export const receiveMessage = (
  deps: Deps,
  workspace: Workspace,
  contactId: string,
  { text, channelMessageId }: { text: string; channelMessageId: string },
) =>
  deps.store.transaction(async (tx): Promise<Message> => {
    const now = deps.clock.now();
    const contact = await tx.contacts.get(contactId); // locked: a contact has one open conversation
    if (!contact || isForgotten(contact))
      throw errorWithFix('unauthorized', 'This visitor was removed.');
    const [known, last] = await Promise.all([
      findReceived(tx, contactId, channelMessageId),
      findLastConversation(tx, contactId),
    ]);
    if (known) return known;
    const received = await storeReceived(
      tx,
      { workspace, contact, last },
      { text, channelMessageId },
      now,
    );
    const reacted = await deps.reactions.onInbound(tx, received.conversation, now);
    if (reacted !== received.conversation) await tx.conversations.put(reacted);
    return received.message;
  });

/** The message that a channel has delivered before; null when it is new. */
export async function findReceived(
  tx: Tx,
  contactId: string,
  channelMessageId: string,
): Promise<Message | null> {
  const [known] = await tx.messages.find({ where: { contactId, channelMessageId }, limit: 1 });
  return known ?? null;
}

/**
 * Stores a customer's new message with its events, in the caller's transaction. The caller has
 * locked the contact, and runs `onInbound` afterwards. While a wait asks for a reply, the message
 * answers it.
 * @param about.last the contact's last conversation, found since the contact was locked
 */
export async function storeReceived(
  tx: Tx,
  {
    workspace,
    contact,
    last,
  }: { workspace: Workspace; contact: Contact; last: Conversation | null },
  { text, channelMessageId }: { text: string; channelMessageId: string },
  now: Date,
): Promise<{ conversation: Conversation; message: Message }> {
  const { conversation, isNew } = await currentConversation(tx, workspace, contact, last, now);
  const sender = { type: 'customer', name: contact.name ?? '' } as const;
  const received = await storeMessage(
    tx,
    { workspace, contact, conversation },
    {
      sender,
      text,
      channelMessageId,
      ...(conversation.replyWaitId ? { waitId: conversation.replyWaitId } : {}),
    },
    now,
  );
  const about = { workspace, contact, conversation: received.conversation };
  if (isNew) {
    await emitEvent(tx, { name: 'conversation.opened' }, about, now);
    await countOpened(tx, received.conversation, now);
  }
  await emitEvent(tx, { name: 'message.received', message: received.message }, about, now);
  return received;
}

async function currentConversation(
  tx: Tx,
  workspace: Workspace,
  contact: Contact,
  found: Conversation | null,
  now: Date,
) {
  // While the contact is locked, no newer conversation can begin. The one that was found may have
  // been closed since, so it is locked and read again.
  const last = found && (await tx.conversations.get(found.id));
  if (last && last.status !== 'closed') return { conversation: last, isNew: false };
  const start = {
    id: newId('conv'),
    workspaceId: workspace.id,
    contactId: contact.id,
    channel: contact.channel,
    previousConversationId: last?.id ?? null,
  };
  return { conversation: openConversation(start, now), isNew: true };
}
