import { timestamp } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import { DELIVERY_QUEUE, type Delivery } from '../delivery.ts';
import type { Event, EventName } from '../event.ts';
import type { EventFacts } from '../filter.ts';
import { wants } from '../subscription.ts';
import { findSubscriptions } from './subscriptions.ts';

/** What happened. Deliveries know its name and its bytes, not its meaning. */
export interface Emitted {
  readonly workspaceId: string;
  readonly name: EventName;
  readonly conversationId: string;
  /** What filters look at. */
  readonly facts: EventFacts;
  /** Called only if somebody subscribes. @param id the event's */
  readonly payload: (id: string) => object;
}

/**
 * Stores an event and a pending delivery for each subscription that asks for it, in the caller's
 * transaction: what happened and what is owed for it are one write. A removed subscription is owed
 * it too, as long as it can be revived; a paused one is not.
 */
export async function emit(
  tx: Tx,
  { workspaceId, name, conversationId, facts, payload }: Emitted,
  now: Date,
): Promise<void> {
  const subscriptions = (await findSubscriptions(tx, workspaceId)).filter(
    (each) => !each.paused && wants(each, { name, facts, conversationId }),
  );
  if (subscriptions.length === 0) return;
  const id = newId('evt');
  const event: Event = {
    id,
    workspaceId,
    name,
    conversationId,
    facts,
    body: JSON.stringify(payload(id)),
    createdAt: timestamp(now),
  };
  await tx.events.put(event);
  for (const subscription of subscriptions) await queueDelivery(tx, event, subscription.id, now);
}

/**
 * Stores a pending delivery of an event and queues its first attempt.
 * @param trigger `manual`: a person asked for it, and it goes out while the subscription is paused
 */
export async function queueDelivery(
  tx: Tx,
  event: Event,
  subscriptionId: string,
  now: Date,
  trigger: Delivery['trigger'] = 'automatic',
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
    trigger,
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
