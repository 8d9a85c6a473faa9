import type { Channel } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { InboundReceipt } from '../inbound.ts';
import { isForwardState, type OutboundMessage } from '../outboundMessage.ts';
import {
  enqueueOutbound,
  lockOutbound,
  putOutbound,
  unusedChannelMessageId,
} from './outboundMessages.ts';

/**
 * Records a channel's receipt: the outbound message moves forward, never back, and its message shows
 * it. A text that was waiting to be sent need not be sent any more, so the contact's next one
 * follows at once. A receipt for a text that is not ours is ignored.
 * @see isForwardState
 */
export async function recordReceipt(
  tx: Tx,
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
  // Sent twice after a time-out: one copy that failed says nothing about the other.
  if (isOfAnotherAttempt && receipt.state === 'failed') return;
  if (!isForwardState(outbound.status, receipt.state)) return;
  await putOutbound(tx, outbound, {
    ...outbound,
    status: receipt.state,
    channelMessageId:
      outbound.channelMessageId ??
      (await unusedChannelMessageId(tx, outbound, receipt.channelMessageId)),
    isUnderWay: false,
    error: receipt.error,
    nextAttemptAt: null,
  });
  if (outbound.status === 'pending') await enqueueOutbound(tx, contact, now);
}

/** By our own id, which the channel returns with its receipts, or else by the channel's id. */
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
