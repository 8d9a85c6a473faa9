import { findOpenTurns } from '../../agent/webhook/operations/turns.ts';
import { lockOutbound } from '../../channels/outbound/queueOutbound.ts';
import { isForgotten, type RemovedKind } from '../../conversations/contact.ts';
import { type Conversation, positionOf } from '../../conversations/conversation.ts';
import { idOfReadMark } from '../../conversations/readMark.ts';
import { nextWorkAt } from '../../payments/payment.ts';
import type { Batch, From } from '../../platform/http/page.ts';
import type { Tx } from '../../store/collections.ts';
import { complete, isComplete } from '../../tools/calls/toolCall.ts';
import { countToolCall } from '../../tools/counted.ts';
import { countApproval } from '../../tools/index.ts';
import { countDecision } from '../../waits/operations/endWait.ts';
import { putWait } from '../../waits/operations/waits.ts';
import { clearWait, isOpen, isOver } from '../../waits/wait.ts';

/** One transaction removes about this many documents, so that others do not wait long. */
const BATCH = 500;
/** Conversations that one transaction reads. */
const CONVERSATIONS_AT_ONCE = 100;
/** More documents than one conversation, contact or workspace can have. */
export const ALL = 100_000;

/** Counts what one transaction removes, and how much more it may remove (`left`). */
export class Removal {
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
 * Removes one batch of a workspace's conversations that have not changed since `before`, starting with
 * the one that has been unchanged longest.
 * @param mayGo locks a conversation, and tells whether it may be removed
 * @returns the conversations that were removed; the next batch starts after the last one that was
 * removed or has to stay
 */
export async function removeBatch(
  tx: Tx,
  workspaceId: string,
  { before, now }: { readonly before: string; readonly now: Date },
  mayGo: (conversation: Conversation) => Promise<boolean>,
  from: From,
): Promise<Batch<readonly Conversation[]>> {
  const oldest = await tx.conversations.find({
    where: { workspaceId },
    orderBy: 'updatedAt',
    limit: CONVERSATIONS_AT_ONCE,
    ...from,
  });
  const removed: Conversation[] = [];
  const removal = new Removal(BATCH);
  let next = from;
  for (const conversation of oldest) {
    if (conversation.updatedAt >= before) return { result: removed, next: null };
    if (await mayGo(conversation)) {
      // A long conversation takes several batches. The conversation itself goes in the last one.
      if (!(await removeParts(tx, conversation, removal, now))) return { result: removed, next };
      removal.left -= await removeConversation(tx, conversation);
      removed.push(conversation);
      if (removal.left <= 0) return { result: removed, next };
    }
    next = { after: positionOf(conversation) };
  }
  return { result: removed, next: oldest.length < CONVERSATIONS_AT_ONCE ? null : next };
}

/** Whether no tool call, turn, payment, wait or outbound message of a conversation is under way. */
export async function isAtRest(
  tx: Tx,
  { id: conversationId, contactId }: Conversation,
): Promise<boolean> {
  for (const status of ['running', 'pending_approval'] as const) {
    if ((await tx.toolCalls.find({ where: { conversationId, status }, limit: 1 })).length > 0)
      return false;
  }
  if ((await findOpenTurns(tx, conversationId)).length > 0) return false;
  const payments = await tx.payments.find({ where: { conversationId }, limit: ALL });
  if (payments.some((payment) => nextWorkAt(payment) !== null)) return false;
  const waits = await tx.waits.find({ where: { conversationId }, limit: ALL });
  if (!waits.every(isOver)) return false;
  const outboundMessages = await tx.outboundMessages.find({
    where: { contactId, status: 'pending' },
    limit: ALL,
  });
  return !outboundMessages.some((outbound) => outbound.conversationId === conversationId);
}

type RemovePart = (
  tx: Tx,
  conversation: Conversation,
  removal: Removal,
  now: Date,
) => Promise<void>;

/**
 * Removes what belongs to a conversation, but not the conversation itself. Figures of the overview
 * stay: what had not ended is counted as cancelled.
 * @returns false when this transaction may remove no more, so that some parts may be left
 */
export async function removeParts(
  tx: Tx,
  conversation: Conversation,
  removal: Removal,
  now: Date,
  endPayments: RemovePart = removePayments,
): Promise<boolean> {
  for (const removePart of [
    removeCalls,
    endPayments,
    removeWaits,
    removeTurns,
    removeNotes,
    removeMessages,
  ]) {
    await removePart(tx, conversation, removal, now);
    if (removal.left <= 0) return false;
  }
  return true;
}

async function removeCalls(
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

async function removePayments(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
): Promise<void> {
  const found = await tx.payments.find({ where: { conversationId }, limit: removal.left });
  for (const { id } of found) removal.left -= Number(await tx.payments.delete(id));
}

/** The workflow that asked goes on without an answer. Until then, its wait stays, without texts. */
async function removeWaits(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
  now: Date,
): Promise<void> {
  for (const { id } of await tx.waits.find({ where: { conversationId }, limit: ALL })) {
    if (removal.left <= 0) return;
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

async function removeTurns(
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

async function removeNotes(
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
async function removeMessages(
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

/**
 * Removes a conversation that has no parts left, with its read marks. With the last conversation of
 * a contact, the contact goes too.
 * @returns about how many documents were removed
 */
export async function removeConversation(
  tx: Tx,
  { id, workspaceId, contactId }: Conversation,
): Promise<number> {
  const members = await tx.members.find({ where: { workspaceId }, limit: ALL });
  // Most have none. To delete a mark that is not there would lock its id: PostgreSQL has few such locks.
  const marks = await Promise.all(
    members.map((member) => tx.readMarks.peek(idOfReadMark(member.id, id))),
  );
  let removed = 1;
  for (const mark of marks) if (mark) removed += Number(await tx.readMarks.delete(mark.id));
  await tx.agentTurns.delete(id);
  await tx.jobs.complete(id);
  await tx.conversations.delete(id);
  const [other] = await tx.conversations.find({ where: { contactId }, limit: 1 });
  const contact = await tx.contacts.peek(contactId);
  // The record of a contact that is being forgotten says what still has to go.
  if (other || (contact && isForgotten(contact))) return removed;
  return removed + (await removeSessions(tx, contactId)) + (await removeContact(tx, contactId));
}

/** @returns how many chat sessions of a contact were removed */
export async function removeSessions(tx: Tx, contactId: string): Promise<number> {
  const sessions = await tx.chatSessions.find({ where: { contactId }, limit: ALL });
  for (const { id } of sessions) await tx.chatSessions.delete(id);
  return sessions.length;
}

/** @returns how many records of who read a contact's details were removed */
export async function removeReveals(tx: Tx, contactId: string): Promise<number> {
  const reveals = await tx.contactReveals.find({ where: { contactId }, limit: ALL });
  for (const { id } of reveals) await tx.contactReveals.delete(id);
  return reveals.length;
}

/**
 * Removes a contact, with the record of who read their details.
 * @returns how many documents were removed
 */
export async function removeContact(tx: Tx, contactId: string): Promise<number> {
  const reveals = await removeReveals(tx, contactId);
  await tx.typings.delete(contactId);
  await tx.contacts.delete(contactId);
  return 1 + reveals;
}
