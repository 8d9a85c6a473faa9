import { timestamp } from './clock.ts';
import type { Tx } from './collections.ts';
import type { Contact } from './contact.ts';
import type { Conversation } from './conversation.ts';
import { DELIVERY_QUEUE, type Delivery } from './delivery.ts';
import type { Event } from './event.ts';
import { newId } from './ids.ts';
import { eventPayload, type EventDetail } from './payload.ts';
import { MAX_REMOVED_SUBSCRIPTIONS, MAX_SUBSCRIPTIONS } from './subscription.ts';
import { workGroup } from './workGroup.ts';
import type { Workspace } from './workspace.ts';

/**
 * Stores an event and a pending delivery for each subscription of it, in the caller's transaction:
 * what happened and what is owed for it are one write. A removed subscription is owed it too, as
 * long as it can be revived.
 */
export async function emitEvent(
  tx: Tx,
  detail: EventDetail,
  about: { workspace: Workspace; conversation: Conversation; contact: Contact },
  now: Date,
): Promise<void> {
  const id = newId('evt');
  const where = { workspaceId: about.workspace.id, event: detail.name };
  const limit = MAX_SUBSCRIPTIONS + MAX_REMOVED_SUBSCRIPTIONS;
  const subscriptions = await tx.subscriptions.find({ where, limit });
  if (subscriptions.length === 0) return;
  const event: Event = {
    id,
    workspaceId: about.workspace.id,
    name: detail.name,
    conversationId: about.conversation.id,
    body: JSON.stringify(eventPayload(id, detail, about, now)),
    createdAt: timestamp(now),
  };
  await tx.events.put(event);
  for (const subscription of subscriptions) await queueDelivery(tx, event, subscription.id, now);
}

/** Owes an event to a subscription from now on. */
export async function queueDelivery(
  tx: Tx,
  event: Event,
  subscriptionId: string,
  now: Date,
): Promise<Delivery> {
  const delivery: Delivery = {
    id: newId('dlv'),
    workspaceId: event.workspaceId,
    subscriptionId,
    eventId: event.id,
    event: event.name,
    status: 'pending',
    attempts: [],
    roundStart: 0,
    trigger: 'automatic',
    isRepeat: false,
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
