import { findOpenTurns } from '../../agent/webhook/operations/turns.ts';
import type { Tx } from '../../store/collections.ts';
import { isForgotten } from '../../conversations/contact.ts';
import { type Conversation, positionOf } from '../../conversations/conversation.ts';
import type { Deps } from '../../platform/deps.ts';
import { readMarkId } from '../../conversations/readMark.ts';
import { following, inBatches, type Batch, type From } from '../../platform/http/page.ts';
import { nextWorkAt } from '../../payments/payment.ts';
import { isOver } from '../../waits/wait.ts';

/** One transaction removes about this many documents, so that others do not wait long. */
const BATCH = 500;
/** Conversations that one transaction reads. */
const CONVERSATIONS_AT_ONCE = 100;
const WORKSPACES_AT_ONCE = 100;
/** More documents than one conversation, contact or workspace can have. */
const ALL = 100_000;

/**
 * Removes conversations, open or closed, that have not changed since `before`. Their messages, notes,
 * read marks, tool calls, turns, waits, outbound messages and payment links go with them. The contact
 * and its chat sessions go with its last conversation. A conversation that still waits for a payment,
 * an approval, a reply, a decision or an outbound message stays until that has ended. Emits no event.
 * @param before ISO 8601, as stored
 * @returns how many conversations were removed
 * @see docs/decisions/0026-what-retention-removes.md
 */
export async function removeOldConversations(
  deps: Pick<Deps, 'store'>,
  before: string,
): Promise<number> {
  let removed = 0;
  const all = inBatches(deps, async (tx, from) => {
    const workspaces = await tx.workspaces.find({ where: {}, limit: WORKSPACES_AT_ONCE, ...from });
    return { result: workspaces, next: following(workspaces, WORKSPACES_AT_ONCE) };
  });
  for await (const workspaces of all) {
    for (const { id } of workspaces) {
      const batches = inBatches(deps, (tx, from) => removeBatch(tx, id, before, from));
      for await (const removedHere of batches) removed += removedHere;
    }
  }
  return removed;
}

/**
 * Removes one batch, starting with the conversation that has been unchanged longest. The next one
 * starts after the last conversation that was removed or has to stay.
 */
async function removeBatch(
  tx: Tx,
  workspaceId: string,
  before: string,
  from: From,
): Promise<Batch<number>> {
  const oldest = await tx.conversations.find({
    where: { workspaceId },
    orderBy: 'updatedAt',
    limit: CONVERSATIONS_AT_ONCE,
    ...from,
  });
  let removed = 0;
  let next = from;
  let left = BATCH;
  for (const conversation of oldest) {
    if (conversation.updatedAt >= before) return { result: removed, next: null };
    if ((await isAtRest(tx, conversation)) && (await lockOld(tx, conversation, before))) {
      left -= await removeParts(tx, conversation, left);
      // A long conversation takes several batches. The conversation itself goes in the last one.
      if (left <= 0) return { result: removed, next };
      left -= await removeConversation(tx, conversation);
      removed += 1;
      if (left <= 0) return { result: removed, next };
    }
    next = { after: positionOf(conversation) };
  }
  return { result: removed, next: oldest.length < CONVERSATIONS_AT_ONCE ? null : next };
}

/**
 * Locks the contact, then the conversation: the order in which storing a customer's message locks
 * them.
 * @returns whether the conversation is still unchanged and at rest
 */
async function lockOld(tx: Tx, { id, contactId }: Conversation, before: string): Promise<boolean> {
  await tx.contacts.get(contactId);
  const conversation = await tx.conversations.get(id);
  return conversation !== null && conversation.updatedAt < before && isAtRest(tx, conversation);
}

/** Whether no tool call, payment, wait or outbound message of the conversation is still under way. */
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

/**
 * Removes what belongs to a conversation, but not the conversation itself.
 * @returns how many documents were removed. If it is `max` or more, there may be others left.
 */
export async function removeParts(
  tx: Tx,
  { id: conversationId }: Conversation,
  max: number,
): Promise<number> {
  let removed = 0;
  for (const { id: messageId } of await tx.messages.find({
    where: { conversationId },
    orderBy: 'number',
    limit: max,
  })) {
    if (removed >= max) return removed;
    for (const { id } of await tx.outboundMessages.find({
      where: { messageId },
      orderBy: 'part',
      limit: ALL,
    }))
      removed += Number(await tx.outboundMessages.delete(id));
    removed += Number(await tx.messages.delete(messageId));
  }
  for (const name of ['systemNotes', 'toolCalls', 'payments', 'waits'] as const) {
    if (removed >= max) return removed;
    for (const { id } of await tx[name].find({
      where: { conversationId },
      orderBy: 'afterMessage',
      limit: max - removed,
    }))
      removed += Number(await tx[name].delete(id));
  }
  if (removed >= max) return removed;
  const turns = await tx.webhookTurns.find({ where: { conversationId }, limit: max - removed });
  for (const { id } of turns) removed += Number(await tx.webhookTurns.delete(id));
  return removed;
}

/**
 * Removes a conversation without parts, and who has read it. The contact goes with its last
 * conversation.
 * @returns about how many documents were removed
 */
export async function removeConversation(
  tx: Tx,
  { id, workspaceId, contactId }: Conversation,
): Promise<number> {
  const members = await tx.members.find({ where: { workspaceId }, limit: ALL });
  let removed = 1;
  for (const member of members)
    removed += Number(await tx.readMarks.delete(readMarkId(member.id, id)));
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
