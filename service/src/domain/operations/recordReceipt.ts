import type { Channel } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import type { InboundReceipt } from '../inbound.ts';
import { SENDING_QUEUE, accountGroup, isForwardState, type Sending } from '../sending.ts';
import { lockSendings } from './lockSendings.ts';
import { showDelivery } from './showDelivery.ts';

/**
 * A channel tells how far a text of ours has come: the sending moves forward, never back, and its
 * message shows it. What was still to be sent, or sent again, need not be any more: the contact's
 * next text follows at once. A receipt of what is not ours is passed over.
 * @see sending.ts, isForwardState
 */
export async function recordReceipt(
  tx: Tx,
  channel: Channel,
  receipt: InboundReceipt,
  now: Date,
): Promise<void> {
  const contact = await findReceiver(tx, channel, receipt);
  if (!contact) return;
  await lockSendings(tx, contact.id);
  const named = await findSending(tx, channel, receipt);
  const sending = named && (await tx.sendings.get(named.id));
  if (!sending) return;
  const isOtherTry =
    sending.channelMessageId !== null && sending.channelMessageId !== receipt.channelMessageId;
  // Sent twice after a time-out: that one of them was not delivered says nothing about the other.
  if (isOtherTry && receipt.state === 'failed') return;
  if (!isForwardState(sending.status, receipt.state)) return;
  await tx.sendings.put({
    ...sending,
    status: receipt.state,
    channelMessageId:
      sending.channelMessageId ?? (await freeId(tx, sending, receipt.channelMessageId)),
    isUnderWay: false,
    error: receipt.error,
    nextAttemptAt: null,
  });
  await showDelivery(tx, sending.messageId);
  if (sending.status === 'pending') await sendNext(tx, contact, now);
}

/** Whom the text was for, when that is a contact of this account. */
async function findReceiver(
  tx: Tx,
  channel: Channel,
  receipt: InboundReceipt,
): Promise<Contact | null> {
  const sending = await findSending(tx, channel, receipt);
  const contact = sending && (await tx.contacts.peek(sending.contactId));
  return contact?.channel === channel.type && contact.channelAccount === channel.account
    ? contact
    : null;
}

/** By what was sent along with it, else by the channel's id. */
async function findSending(
  tx: Tx,
  { workspaceId }: Channel,
  { sendingId, channelMessageId }: InboundReceipt,
): Promise<Sending | null> {
  const named = sendingId === null ? null : await tx.sendings.peek(sendingId);
  const [sending] = named
    ? [named]
    : await tx.sendings.find({ where: { workspaceId, channelMessageId }, limit: 1 });
  return sending?.workspaceId === workspaceId ? sending : null;
}

async function freeId(
  tx: Tx,
  { workspaceId }: Sending,
  channelMessageId: string,
): Promise<string | null> {
  const [taken] = await tx.sendings.find({ where: { workspaceId, channelMessageId }, limit: 1 });
  return taken ? null : channelMessageId;
}

const sendNext = (tx: Tx, contact: Contact, now: Date): Promise<void> =>
  tx.jobs.enqueue({
    id: contact.id,
    queue: SENDING_QUEUE,
    group: accountGroup(contact),
    runAt: now.getTime(),
    rank: 0,
    data: {},
  });
