import { encodeTime } from 'ulid';
import { WEB_CHAT } from '../channel.ts';
import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Delivery, Event } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import { positionOf, type InboxPosition } from '../inbox.ts';
import { findSubscriptions } from './subscriptions.ts';
import { isAtRest, removeConversation, removeParts } from './removeOldConversations.ts';

/** One transaction reads at most this many documents, so that others do not wait long. */
const BATCH = 200;
/** More documents than one conversation or contact can have. */
const ALL = 100_000;

export interface RoomNeeded {
  /** Ids of the workspaces to make room in, in this order. */
  readonly workspaces: readonly string[];
  /** ISO 8601. A visitor who has written since then stays: an answer may be on its way. */
  readonly before: string;
  /** Stops once this many messages are removed. */
  readonly mostMessages: number;
  /** Whether the visitor has the chat open. Such a visitor stays. */
  readonly isConnected: (contactId: string) => boolean;
}

interface RoomMade {
  readonly conversations: number;
  readonly messages: number;
  readonly events: number;
}

/**
 * Makes room by removing web chat conversations that only the visitor has written in and that nobody
 * has taken over, closed or rated. The conversation that has been unchanged longest goes first. The
 * visitor's sessions and the delivered events go with it. A conversation stays, with its events,
 * while a subscription is still owed one of them: a delivery that is pending, or that failed and can
 * be recovered.
 * @see docs/decisions/0016
 */
export async function removeUnansweredVisitors(
  { store }: Pick<Deps, 'store'>,
  needed: RoomNeeded,
): Promise<RoomMade> {
  let made: RoomMade = { conversations: 0, messages: 0, events: 0 };
  for (const id of needed.workspaces) {
    if (made.messages >= needed.mostMessages) break;
    const here = await makeRoomIn({ store }, id, needed, needed.mostMessages - made.messages);
    made = {
      conversations: made.conversations + here.conversations,
      messages: made.messages + here.messages,
      events: made.events + here.events,
    };
  }
  return made;
}

async function makeRoomIn(
  deps: Pick<Deps, 'store'>,
  workspaceId: string,
  needed: RoomNeeded,
  mostMessages: number,
): Promise<RoomMade> {
  const subscriptions = await deps.store.transaction((tx) => findSubscriptions(tx, workspaceId));
  const subscriptionIds = subscriptions.map(({ id }) => id);
  const owed = await conversationsOwed(deps, subscriptionIds);
  const removed = new Map<string, Conversation>();
  let messages = 0;
  let from: InboxPosition | null = null;
  while (messages < mostMessages) {
    const after: InboxPosition | null = from;
    const batch: Batch = await deps.store.transaction((tx) =>
      removeBatch(tx, workspaceId, needed, owed, after),
    );
    for (const conversation of batch.removed) {
      removed.set(conversation.id, conversation);
      messages += conversation.messageCount;
    }
    if (batch.next === null) break;
    from = batch.next;
  }
  return {
    conversations: removed.size,
    messages,
    events: await removeDeliveredEvents(deps, subscriptionIds, removed),
  };
}

/** The conversations with a pending or failed delivery. */
async function conversationsOwed(
  { store }: Pick<Deps, 'store'>,
  subscriptionIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const owed = new Set<string>();
  for (const subscriptionId of subscriptionIds) {
    for (const status of ['pending', 'failed'] as const) {
      let last: string | undefined;
      do {
        const after = last;
        last = await store.transaction(async (tx) => {
          const deliveries = await tx.deliveries.find({
            where: { subscriptionId, status },
            limit: BATCH,
            ...(after === undefined ? {} : { after: { value: after } }),
          });
          for (const { eventId } of deliveries) {
            const event = await tx.events.peek(eventId);
            if (event?.conversationId) owed.add(event.conversationId);
          }
          return deliveries.at(-1)?.id;
        });
      } while (last !== undefined);
    }
  }
  return owed;
}

interface Batch {
  readonly removed: readonly Conversation[];
  /** Where the next batch starts. Null when there is nothing left to remove. */
  readonly next: InboxPosition | null;
}

async function removeBatch(
  tx: Tx,
  workspaceId: string,
  needed: RoomNeeded,
  owed: ReadonlySet<string>,
  from: InboxPosition | null,
): Promise<Batch> {
  const oldest = await tx.conversations.find({
    where: { workspaceId },
    orderBy: 'updatedAt',
    limit: BATCH,
    ...(from ? { after: from } : {}),
  });
  const removed: Conversation[] = [];
  let documents = 0;
  for (const conversation of oldest) {
    if (conversation.updatedAt >= needed.before) return { removed, next: null };
    if (
      !owed.has(conversation.id) &&
      isUnanswered(conversation) &&
      (await mayRemove(tx, conversation, needed))
    ) {
      documents += await removeParts(tx, conversation, ALL);
      await removeConversation(tx, conversation);
      removed.push(conversation);
    }
    if (documents >= BATCH) return { removed, next: positionOf(conversation) };
  }
  const last = oldest.at(-1);
  return { removed, next: last && oldest.length === BATCH ? positionOf(last) : null };
}

/** Only the visitor has written, and nobody has taken it over, closed or rated it. */
const isUnanswered = ({
  channel,
  status,
  messageCount,
  customerMessageCount,
  qualifiedAt,
}: Conversation): boolean =>
  channel === WEB_CHAT &&
  (status === 'ai_active' || status === 'awaiting_human') &&
  messageCount === customerMessageCount &&
  qualifiedAt === null;

/**
 * Locks the conversation and checks it again. It also stays if the visitor has another conversation
 * that was answered.
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
  return all.every(isUnanswered) && (await isAtRest(tx, conversation));
}

/**
 * Removes the events of the removed conversations that no subscription is owed. These events lie
 * between the first conversation's creation and the last one's change.
 */
async function removeDeliveredEvents(
  { store }: Pick<Deps, 'store'>,
  subscriptionIds: readonly string[],
  removed: ReadonlyMap<string, Conversation>,
): Promise<number> {
  if (removed.size === 0) return 0;
  const conversations = [...removed.values()];
  const firstCreatedAt = conversations.map(({ createdAt }) => createdAt).reduce(earlier);
  const lastUpdatedAt = conversations.map(({ updatedAt }) => updatedAt).reduce(later);
  let events = 0;
  let position: string | undefined = `evt_${encodeTime(Date.parse(firstCreatedAt))}`;
  while (position !== undefined) {
    const after: string = position;
    position = await store.transaction(async (tx) => {
      const next = await tx.events.find({ where: {}, limit: BATCH, after: { value: after } });
      for (const event of next) {
        if (event.createdAt > lastUpdatedAt) return undefined;
        if (event.conversationId !== null && removed.has(event.conversationId))
          events += Number(await removeEvent(tx, event, subscriptionIds));
      }
      return next.length === BATCH ? next.at(-1)!.id : undefined;
    });
  }
  return events;
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
