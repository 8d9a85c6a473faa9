import { encodeTime } from 'ulid';
import type { Tx } from '../../store/collections.ts';
import type { ChatSession } from '../../channels/web_chat/chatSession.ts';
import { isForgotten, WEB_CHAT } from '../../conversations/contact.ts';
import type { Conversation } from '../../conversations/conversation.ts';
import type { Delivery } from '../../deliveries/delivery.ts';
import type { Event } from '../../deliveries/event.ts';
import type { Deps } from '../../platform/deps.ts';
import {
  inBatches,
  following,
  sumOfBatches,
  type Batch,
  type From,
} from '../../platform/http/page.ts';
import { ALL, isAtRest, removeBatch, removeContact } from './removeConversations.ts';
import { findSubscriptions } from '../../deliveries/operations/subscriptions.ts';

const SESSIONS_AT_ONCE = 500;

/** The setting that says how far the sweep has come. */
const POSITION = 'chat_sessions_swept';

/**
 * Removes visitors of the chat who arrived before a time and never wrote: session and contact. Each
 * session is checked once: a visitor who has written by then keeps it.
 * @param before ISO 8601, as stored
 * @param workspaces removes only their visitors and leaves the others to a later check; absent: all
 * @returns how many were removed
 */
export const removeSilentVisitors = (
  deps: Pick<Deps, 'store'>,
  before: string,
  workspaces?: readonly string[],
): Promise<number> =>
  sumOfBatches(deps, (tx, from) => removeSilentBatch(tx, before, workspaces, from));

async function removeSilentBatch(
  tx: Tx,
  before: string,
  workspaces: readonly string[] | undefined,
  from: From,
): Promise<Batch<number>> {
  const swept = from.after ? null : await tx.settings.get(POSITION);
  const [value, id] = swept?.value.split(' ') ?? [];
  const next = await tx.chatSessions.find({
    where: {},
    orderBy: 'createdAt',
    limit: SESSIONS_AT_ONCE,
    ...(value === undefined ? from : { after: { value, id } }),
  });
  const old = next.filter(({ createdAt }) => createdAt < before);
  let removed = 0;
  for (const session of old) {
    const isWanted = workspaces?.includes(session.workspaceId) ?? true;
    if (isWanted && (await removeSilent(tx, session))) removed += 1;
  }
  const last = old.at(-1);
  if (last && workspaces === undefined)
    await tx.settings.put({ id: POSITION, value: `${last.createdAt} ${last.id}` });
  if (!last || old.length < SESSIONS_AT_ONCE) return { result: removed, next: null };
  const after = { value: last.createdAt, id: last.id };
  return { result: removed, next: workspaces === undefined ? {} : { after } };
}

async function removeSilent(tx: Tx, { id, contactId }: ChatSession): Promise<boolean> {
  // The lock waits for a message that is being stored, so that its conversation is found below.
  const contact = await tx.contacts.get(contactId);
  // The record of a contact that is being forgotten says what still has to go.
  if (contact && isForgotten(contact)) return false;
  const [conversation] = await tx.conversations.find({ where: { contactId }, limit: 1 });
  if (conversation) return false;
  await tx.chatSessions.delete(id);
  await removeContact(tx, contactId);
  return true;
}

/** One transaction reads at most this many documents, so that others do not wait long. */
const BATCH = 200;

export interface RoomNeeded {
  /** Ids of the workspaces to make room in, in this order. */
  readonly workspaces: readonly string[];
  /** ISO 8601. A visitor who has written since then stays: an answer may be on its way. */
  readonly before: string;
  readonly now: Date;
  /** Stops once this many messages are removed. */
  readonly maxMessages: number;
  /** Whether the visitor has the chat open. Such a visitor stays. */
  readonly isConnected: (contactId: string) => boolean;
}

interface RoomMade {
  conversations: number;
  messages: number;
  events: number;
}

/**
 * Makes room by removing web chat conversations that only the visitor has written in and that nobody
 * has taken over, closed or qualified, with nobody assigned and no note of a team member. The conversation
 * that has been unchanged longest goes first. The visitor's sessions and the delivered events go with it.
 * A conversation stays, with its events, while a subscription is still owed one of them: a delivery
 * that is pending, or that failed and can be recovered.
 * @see docs/decisions/0016-additions-are-refused-before-memory-is-full.md
 */
export async function removeUnansweredVisitors(
  deps: Pick<Deps, 'store'>,
  needed: RoomNeeded,
): Promise<RoomMade> {
  const made: RoomMade = { conversations: 0, messages: 0, events: 0 };
  for (const id of needed.workspaces) {
    if (made.messages >= needed.maxMessages) break;
    await makeRoomIn(deps, id, needed, made);
  }
  return made;
}

/** Makes room in one workspace, and adds what was removed to `made`. */
async function makeRoomIn(
  deps: Pick<Deps, 'store'>,
  workspaceId: string,
  needed: RoomNeeded,
  made: RoomMade,
): Promise<void> {
  const subscriptions = await deps.store.transaction((tx) => findSubscriptions(tx, workspaceId));
  const subscriptionIds = subscriptions.map(({ id }) => id);
  const owed = await conversationsOwed(deps, subscriptionIds);
  const removed = new Map<string, Conversation>();
  const batches = inBatches(deps, (tx, from) =>
    removeBatch(
      tx,
      workspaceId,
      needed,
      async (found) =>
        !owed.has(found.id) && isUnanswered(found) && (await mayRemove(tx, found, needed)),
      from,
    ),
  );
  for await (const batch of batches) {
    for (const conversation of batch) {
      removed.set(conversation.id, conversation);
      made.messages += conversation.messageCount;
    }
    if (made.messages >= needed.maxMessages) break;
  }
  made.conversations += removed.size;
  made.events += await removeDeliveredEvents(deps, subscriptionIds, removed);
}

/** The conversations with a pending or failed delivery. */
async function conversationsOwed(
  deps: Pick<Deps, 'store'>,
  subscriptionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const owed = new Set<string>();
  for (const subscriptionId of subscriptionIds) {
    for (const status of ['pending', 'failed'] as const) {
      const batches = inBatches(deps, async (tx, from) => {
        const where = { subscriptionId, status };
        const deliveries = await tx.deliveries.find({ where, limit: BATCH, ...from });
        const events = await Promise.all(deliveries.map(({ eventId }) => tx.events.peek(eventId)));
        return { result: events, next: following(deliveries, BATCH) };
      });
      for await (const events of batches)
        for (const event of events) if (event?.conversationId) owed.add(event.conversationId);
    }
  }
  return owed;
}

/** Whether only the visitor wrote, and nobody took over, closed, qualified or is assigned. */
const isUnanswered = ({
  channel,
  status,
  messageCount,
  customerMessageCount,
  qualifiedAt,
  assigneeId = null,
}: Conversation): boolean =>
  channel === WEB_CHAT &&
  (status === 'ai_active' || status === 'awaiting_human') &&
  messageCount === customerMessageCount &&
  qualifiedAt === null &&
  assigneeId === null;

/**
 * Locks the conversation and checks it again. A visitor with another conversation that was answered
 * keeps this one too.
 */
async function mayRemove(
  tx: Tx,
  { id, contactId, controlEpoch }: Conversation,
  { before, isConnected }: RoomNeeded,
): Promise<boolean> {
  if (isConnected(contactId)) return false;
  await tx.contacts.get(contactId);
  const conversation = await tx.conversations.get(id);
  if (
    !conversation ||
    conversation.updatedAt >= before ||
    conversation.controlEpoch !== controlEpoch ||
    !isUnanswered(conversation)
  )
    return false;
  const all = await tx.conversations.find({ where: { contactId }, limit: ALL });
  if (!all.every(isUnanswered) || !(await isAtRest(tx, conversation))) return false;
  return !(await Promise.all(all.map((each) => hasTeamNote(tx, each)))).includes(true);
}

async function hasTeamNote(tx: Tx, { id: conversationId }: Conversation): Promise<boolean> {
  const notes = await tx.systemNotes.find({
    where: { conversationId },
    orderBy: 'afterMessage',
    limit: ALL,
  });
  return notes.some(
    ({ change, actor }) => change.type === 'team_note' && actor.type === 'team_member',
  );
}

/**
 * Removes those events of the removed conversations that no subscription is owed. They lie between
 * the first creation and the last change of these conversations.
 */
async function removeDeliveredEvents(
  deps: Pick<Deps, 'store'>,
  subscriptionIds: readonly string[],
  removed: ReadonlyMap<string, Conversation>,
): Promise<number> {
  if (removed.size === 0) return 0;
  const conversations = [...removed.values()];
  const firstCreatedAt = conversations.map(({ createdAt }) => createdAt).reduce(earlier);
  const lastUpdatedAt = conversations.map(({ updatedAt }) => updatedAt).reduce(later);
  const first = { after: { value: `evt_${encodeTime(Date.parse(firstCreatedAt))}` } };
  return sumOfBatches(
    deps,
    async (tx, from) => {
      const next = await tx.events.find({ where: {}, limit: BATCH, ...from });
      const past = next.filter(({ createdAt }) => createdAt <= lastUpdatedAt);
      let gone = 0;
      for (const event of past) {
        if (event.conversationId !== null && removed.has(event.conversationId))
          gone += Number(await removeEvent(tx, event, subscriptionIds));
      }
      return { result: gone, next: following(past, BATCH) };
    },
    first,
  );
}

const earlier = (a: string, b: string): string => (b < a ? b : a);

const later = (a: string, b: string): string => (b > a ? b : a);

/** @returns false, with nothing removed, while a subscription is owed the event */
async function removeEvent(
  tx: Tx,
  { id: eventId }: Event,
  subscriptionIds: readonly string[],
): Promise<boolean> {
  const deliveries: Delivery[] = [];
  for (const subscriptionId of subscriptionIds) {
    const [found] = await tx.deliveries.find({ where: { subscriptionId, eventId }, limit: 1 });
    const delivery = found && (await tx.deliveries.get(found.id));
    if (delivery) deliveries.push(delivery);
  }
  if (deliveries.some(({ status }) => status === 'pending' || status === 'failed')) return false;
  for (const { id } of deliveries) await tx.deliveries.delete(id);
  return tx.events.delete(eventId);
}
