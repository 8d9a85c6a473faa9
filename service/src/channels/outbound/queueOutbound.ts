import type { Channel, ChannelCapabilities } from '../channel.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact, Message, ConversationView } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { newId } from '../../platform/ids.ts';
import { numbersMislead } from '../../platform/reading/choiceNumbers.ts';
import type { InboundReceipt } from '../inbound.ts';
import {
  OUTBOUND_QUEUE,
  accountGroup,
  errorOf,
  newOutbound,
  stateOf,
  isForwardState,
  type OutboundMessage,
} from './outboundMessage.ts';
import { adapterOf } from '../registry.ts';
import { splitText } from './splitText.ts';
import { findObstacle } from '../operations/reachability.ts';

/** No message is split into this many parts. */
const MAX_PARTS = 1000;

/**
 * Locks the contact's outbound messages, so that adding one and removing the job after the last one
 * never overlap. No outbound message has a contact's id: the id itself is locked.
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export const lockOutbound = async (tx: Tx, contactId: string): Promise<void> =>
  void (await tx.outboundMessages.get(contactId));

/**
 * What a message is sent as. Choices that the channel cannot show are lines of its text: numbered,
 * unless that misleads. "2. 3 nights" would leave open what the answer 2 means.
 */
function textsOf(
  { text, choices }: Message,
  { textMax, takesChoices }: ChannelCapabilities,
): readonly Pick<OutboundMessage, 'text' | 'choices'>[] {
  if (choices !== undefined && takesChoices?.(text, choices)) return [{ text, choices }];
  const isNumbered = !numbersMislead(choices ?? []);
  const lines =
    choices?.map((choice, index) => `\n${isNumbered ? `${index + 1}.` : '-'} ${choice}`) ?? [];
  const whole = lines.length === 0 ? text : `${text}\n${lines.join('')}`;
  return splitText(whole, textMax).map((part) => ({ text: part }));
}

/**
 * Queues a message for its channel, split into texts that the channel takes. If the channel would
 * refuse it now, nothing is queued and the message fails with the reason.
 * @returns the message as stored
 */
export async function queueOutbound(
  tx: Tx,
  outgoing: ConversationView & { message: Message },
  now: Date,
): Promise<Message> {
  const { contact, message } = outgoing;
  const obstacle = await findObstacle(tx, contact, now);
  if (obstacle) {
    const failed: Message = { ...message, delivery: { state: 'failed', error: obstacle.message } };
    await tx.messages.put(failed);
    return failed;
  }
  await lockOutbound(tx, contact.id);
  const waiting = await findNextPending(tx, contact.id);
  const texts = textsOf(message, adapterOf(contact.channel).capabilities);
  for (const [index, text] of texts.entries()) {
    const start = { id: newId('out'), part: index + 1, createdAt: timestamp(now) };
    await tx.outboundMessages.put(newOutbound({ ...start, ...text, message }));
  }
  // With a text waiting there is a job, whose time may be that of a retry and must stay.
  if (!waiting) await enqueueOutbound(tx, contact, now);
  return message;
}

/**
 * Queues again the failed texts of a failed message. Each gets a new id, so that a late receipt for
 * the failed attempt says nothing about the new one. A text that still waits keeps its id and its
 * time: the channel may have asked for that wait, or a receipt may yet come.
 * @returns false when the message has not failed
 */
export async function resendOutbound(
  tx: Tx,
  view: ConversationView,
  messageId: string,
  now: Date,
): Promise<boolean> {
  const { contact } = view;
  await lockOutbound(tx, contact.id);
  const parts = await tx.outboundMessages.find({
    where: { messageId },
    orderBy: 'part',
    limit: MAX_PARTS,
  });
  const message = await tx.messages.get(messageId);
  if (message?.delivery?.state !== 'failed') return false;
  const waitsBecauseOf = parts.find(({ nextAttemptAt }) => nextAttemptAt !== null)?.error ?? null;
  const again: Message = { ...message, delivery: { state: 'pending', error: waitsBecauseOf } };
  await tx.messages.put(again);
  if (parts.length === 0) {
    await queueOutbound(tx, { ...view, message: again }, now);
    return true;
  }
  const waiting = await findNextPending(tx, contact.id);
  for (const { id, status, part, text, choices } of parts) {
    if (status !== 'failed') continue;
    await tx.outboundMessages.delete(id);
    const start = { id: newId('out'), part, text, createdAt: timestamp(now) };
    await tx.outboundMessages.put(
      newOutbound({ ...start, ...(choices && { choices }), message: again }),
    );
  }
  if (!waiting) await enqueueOutbound(tx, contact, now);
  return true;
}

/** Makes the contact's next outbound message due. */
const enqueueOutbound = (tx: Tx, contact: Contact, now: Date): Promise<void> =>
  tx.jobs.enqueue({
    id: contact.id,
    queue: OUTBOUND_QUEUE,
    group: accountGroup(contact),
    runAt: now.getTime(),
    rank: 0,
    data: {},
  });

/**
 * The contact's next text: the oldest, or an earlier part of the same message that a person has sent
 * again. That part goes first, but not before the time that the oldest waits for.
 */
export async function findNextPending(tx: Tx, contactId: string): Promise<OutboundMessage | null> {
  const [oldest] = await tx.outboundMessages.find({
    where: { contactId, status: 'pending' },
    limit: 1,
  });
  if (!oldest || oldest.part === 1 || oldest.isUnderWay) return oldest ?? null;
  const parts = await tx.outboundMessages.find({
    where: { messageId: oldest.messageId },
    orderBy: 'part',
    limit: oldest.part,
  });
  const next = parts.find(({ status }) => status === 'pending') ?? oldest;
  return { ...next, nextAttemptAt: laterOf(next.nextAttemptAt, oldest.nextAttemptAt) };
}

const laterOf = (one: string | null, other: string | null): string | null =>
  one !== null && other !== null && Date.parse(one) > Date.parse(other) ? one : (other ?? one);

/** Saves an outbound message and, if its status has changed, the delivery state of its message. */
export async function putOutbound(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  before: OutboundMessage,
  after: OutboundMessage,
  now: Date,
): Promise<void> {
  await tx.outboundMessages.put(after);
  const message = after.status === before.status ? null : await tx.messages.get(after.messageId);
  if (!message) return;
  const parts = await tx.outboundMessages.find({
    where: { messageId: message.id },
    orderBy: 'part',
    limit: MAX_PARTS,
  });
  const state = stateOf(parts);
  await tx.messages.put({ ...message, delivery: { state, error: errorOf(parts) } });
  if (state === 'failed' && message.waitId !== undefined)
    await reactions.onUndeliverable(tx, message.waitId, now);
}

/**
 * The id that the channel gave, or null if another outbound message has it already. Each id belongs
 * to one text.
 */
export async function unusedChannelMessageId(
  tx: Tx,
  { id, workspaceId }: OutboundMessage,
  channelMessageId: string | null,
): Promise<string | null> {
  if (channelMessageId === null) return null;
  const [other] = await tx.outboundMessages.find({
    where: { workspaceId, channelMessageId },
    limit: 1,
  });
  return other && other.id !== id ? null : channelMessageId;
}

/**
 * Records a channel's receipt: the outbound message moves forward, never back, and its message shows
 * it. A text that was waiting to be sent need not be sent any more, so the contact's next one
 * follows at once. A receipt for a text that is not ours is ignored.
 * @see isForwardState
 */
export async function recordReceipt(
  tx: Tx,
  deps: Pick<Deps, 'reactions'>,
  channel: Channel,
  receipt: InboundReceipt,
  now: Date,
): Promise<void> {
  const found = await findOutbound(tx, channel, receipt);
  const contact = found && (await tx.contacts.peek(found.contactId));
  if (contact?.channel !== channel.type || contact.channelAccount !== channel.account) return;
  await lockOutbound(tx, contact.id);
  const outbound = await tx.outboundMessages.get(found!.id);
  if (!outbound) return;
  const isOfAnotherAttempt =
    outbound.channelMessageId !== null && outbound.channelMessageId !== receipt.channelMessageId;
  // After a time-out the text may have been sent twice, and the other copy may have arrived.
  if (isOfAnotherAttempt && receipt.state === 'failed') return;
  if (!isForwardState(outbound.status, receipt.state)) return;
  const channelMessageId =
    outbound.channelMessageId ??
    (await unusedChannelMessageId(tx, outbound, receipt.channelMessageId));
  const received = {
    ...outbound,
    status: receipt.state,
    channelMessageId,
    isUnderWay: false,
    error: receipt.error,
    nextAttemptAt: null,
  };
  await putOutbound(tx, deps, outbound, received, now);
  if (outbound.status === 'pending') await enqueueOutbound(tx, contact, now);
}

/** Finds a receipt's text by our own id, which the channel returns, or else by the channel's id. */
async function findOutbound(
  tx: Tx,
  { workspaceId }: Channel,
  { outboundMessageId, channelMessageId }: InboundReceipt,
): Promise<OutboundMessage | null> {
  const named =
    outboundMessageId === null ? null : await tx.outboundMessages.peek(outboundMessageId);
  const [outbound] = named
    ? [named]
    : await tx.outboundMessages.find({ where: { workspaceId, channelMessageId }, limit: 1 });
  return outbound?.workspaceId === workspaceId ? outbound : null;
}
