import { lockOutbound } from '../../channels/outbound/queueOutbound.ts';
import type { Contact, Removed, RemovedKind } from '../../conversations/contact.ts';
import type { Conversation } from '../../conversations/conversation.ts';
import { putPayment } from '../../payments/operations/paymentLinks.ts';
import { clearPayment, isCleared } from '../../payments/payment.ts';
import type { Tx } from '../../store/collections.ts';
import { complete, isComplete } from '../../tools/calls/toolCall.ts';
import { countToolCall } from '../../tools/counted.ts';
import { countApproval } from '../../tools/index.ts';
import { countDecision } from '../../waits/operations/endWait.ts';
import { putWait } from '../../waits/operations/waits.ts';
import { clearWait, isOpen, isOver } from '../../waits/wait.ts';
import { removeConversation } from './removeOldConversations.ts';

/** More documents than one conversation has. */
const ALL = 100_000;

/** Counts what goes, up to a number that one transaction removes. */
class Removal {
  readonly removed: Partial<Record<RemovedKind, number>> = {};
  left: number;

  constructor(max: number) {
    this.left = max;
  }

  count(kind: RemovedKind): void {
    this.removed[kind] = (this.removed[kind] ?? 0) + 1;
    this.left -= 1;
  }
}

/**
 * Removes parts of a forgotten contact's conversations, and those that have none left. Figures of
 * the overview stay: what had not ended is counted as cancelled.
 * @param max about this many documents
 */
export async function forgetConversations(
  tx: Tx,
  contact: Contact,
  max: number,
  now: Date,
): Promise<{ removed: Removed; isDone: boolean }> {
  const removal = new Removal(max);
  const { id: contactId } = contact;
  while (removal.left > 0) {
    const [found] = await tx.conversations.find({ where: { contactId }, limit: 1 });
    if (!found) return { removed: removal.removed, isDone: true };
    const conversation = await tx.conversations.get(found.id);
    if (!conversation || !(await forgetParts(tx, conversation, removal, now))) continue;
    // The contact stays, with the record of what was removed.
    await removeConversation(tx, conversation);
    removal.count('conversations');
  }
  return { removed: removal.removed, isDone: false };
}

/** @returns false when there may be more than one transaction removes */
async function forgetParts(
  tx: Tx,
  conversation: Conversation,
  removal: Removal,
  now: Date,
): Promise<boolean> {
  for (const part of [
    forgetCalls,
    clearPayments,
    endWaits,
    forgetTurns,
    forgetNotes,
    forgetMessages,
  ]) {
    await part(tx, conversation, removal, now);
    if (removal.left <= 0) return false;
  }
  return true;
}

async function forgetCalls(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
  now: Date,
): Promise<void> {
  const found = await tx.toolCalls.find({ where: { conversationId }, limit: removal.left });
  for (const { id } of found) {
    const call = await tx.toolCalls.get(id);
    if (!call) continue;
    if (!isComplete(call)) await countToolCall(tx, complete(call, 'cancelled', now), now);
    if (call.status === 'pending_approval')
      await countApproval(
        tx,
        { workspaceId: call.workspaceId, since: call.createdAt },
        ['tool', 'cancelled'],
        now,
      );
    await tx.jobs.complete(id);
    await tx.toolCalls.delete(id);
    removal.count('toolCalls');
  }
}

/** A payment is part of the books: it stays, without what was written about it. */
async function clearPayments(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
  now: Date,
): Promise<void> {
  for (const { id } of await tx.payments.find({ where: { conversationId }, limit: ALL })) {
    const payment = await tx.payments.get(id);
    if (!payment || isCleared(payment)) continue;
    await putPayment(tx, clearPayment(payment, now));
    removal.count('clearedPayments');
  }
}

/** The workflow of a question goes on without an answer. Its wait stays for that, with no text. */
async function endWaits(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
  now: Date,
): Promise<void> {
  for (const { id } of await tx.waits.find({ where: { conversationId }, limit: ALL })) {
    const wait = await tx.waits.get(id);
    if (!wait || wait.isCleared) continue;
    if (isOpen(wait) && wait.kind === 'decision') await countDecision(tx, wait, 'cancelled', now);
    if (isOver(wait)) {
      await tx.jobs.complete(id);
      await tx.waits.delete(id);
    } else await putWait(tx, clearWait(wait, now));
    removal.count('questions');
  }
}

async function forgetTurns(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
): Promise<void> {
  for (const { id } of await tx.webhookTurns.find({
    where: { conversationId },
    limit: removal.left,
  })) {
    await tx.jobs.complete(id);
    await tx.webhookTurns.delete(id);
    removal.count('agentTurns');
  }
}

async function forgetNotes(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
): Promise<void> {
  const found = await tx.systemNotes.find({
    where: { conversationId },
    orderBy: 'afterMessage',
    limit: removal.left,
  });
  for (const { id } of found) {
    await tx.systemNotes.delete(id);
    removal.count('notes');
  }
}

/** The texts that are on their way to the customer go with their message. */
async function forgetMessages(
  tx: Tx,
  { id: conversationId, contactId }: Conversation,
  removal: Removal,
): Promise<void> {
  await lockOutbound(tx, contactId);
  const found = await tx.messages.find({
    where: { conversationId },
    orderBy: 'number',
    limit: removal.left,
  });
  for (const { id: messageId } of found) {
    if (removal.left <= 0) return;
    const texts = await tx.outboundMessages.find({
      where: { messageId },
      orderBy: 'part',
      limit: ALL,
    });
    for (const { id } of texts) {
      await tx.outboundMessages.delete(id);
      removal.count('outboundTexts');
    }
    await tx.messages.delete(messageId);
    removal.count('messages');
  }
}
