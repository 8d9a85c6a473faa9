import { timestamp } from './clock.ts';
import type { Tx } from './collections.ts';
import type { Contact } from './contact.ts';
import type { Conversation } from './conversation.ts';
import { DELIVERY_QUEUE, type Delivery } from './delivery.ts';
import type { Event } from './event.ts';
import { newId } from './ids.ts';
import { eventPayload, type EventDetail } from './payload.ts';
import { MAX_RETIRED_SUBSCRIPTIONS } from './retiredSubscription.ts';
import { lineageOf, MAX_SUBSCRIPTIONS } from './subscription.ts';
import { workGroup } from './workGroup.ts';
import type { Workspace } from './workspace.ts';

/**
 * Stores an event and a pending delivery for each subscription of it, in the caller's transaction:
 * what happened and what is owed for it are one write. A subscription that was just removed is owed
 * it too, for whichever takes its place.
 */
export async function emitEvent(
  tx: Tx,
  detail: EventDetail,
  about: { workspace: Workspace; conversation: Conversation; contact: Contact },
  now: Date,
): Promise<void> {
  const id = newId('evt');
  const where = { workspaceId: about.workspace.id, event: detail.name };
  // Asked in this order: what moves from one to the other meanwhile stands in both. See
  // docs/decisions/0033.
  const [subscriptions, retired] = await Promise.all([
    tx.subscriptions.find({ where, limit: MAX_SUBSCRIPTIONS }),
    tx.retiredSubscriptions.find({ where, limit: MAX_RETIRED_SUBSCRIPTIONS }),
  ]);
  const lineages = new Set([
    ...subscriptions.map(lineageOf),
    ...retired.map(({ lineageId }) => lineageId),
  ]);
  if (lineages.size === 0) return;
  const event: Event = {
    id,
    workspaceId: about.workspace.id,
    name: detail.name,
    conversationId: about.conversation.id,
    body: JSON.stringify(eventPayload(id, detail, about, now)),
    createdAt: timestamp(now),
  };
  await tx.events.put(event);
  for (const lineageId of lineages) await queueDelivery(tx, event, lineageId, now);
}

/** Owes an event to a subscription, named by its lineage, from now on. */
export async function queueDelivery(
  tx: Tx,
  event: Event,
  lineageId: string,
  now: Date,
): Promise<Delivery> {
  const delivery: Delivery = {
    id: newId('dlv'),
    workspaceId: event.workspaceId,
    subscriptionId: lineageId,
    eventId: event.id,
    event: event.name,
    status: 'pending',
    attempts: [],
    roundStart: 0,
    trigger: 'automatic',
    everDelivered: false,
    nextAttemptAt: timestamp(now),
    createdAt: timestamp(now),
  };
  await tx.deliveries.put(delivery);
  await enqueueDelivery(tx, delivery, now.getTime(), 0);
  return delivery;
}

/**
 * Puts a delivery's next attempt into the work queue. A delivery has at most one job, named after
 * it.
 */
export const enqueueDelivery = (
  tx: Tx,
  delivery: Delivery,
  runAt: number,
  rank: number,
): Promise<void> =>
  tx.jobs.enqueue({
    id: delivery.id,
    queue: DELIVERY_QUEUE,
    group: workGroup(delivery.workspaceId, delivery.subscriptionId),
    runAt,
    rank,
    data: {},
  });
