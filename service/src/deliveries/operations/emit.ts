import { timestamp } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import { DELIVERY_QUEUE, RANK, requeue, type Delivery } from '../delivery.ts';
import type { Event, EventName } from '../event.ts';
import type { EventFacts } from '../filter.ts';
import { wants } from '../subscription.ts';
import { findSubscriptions } from './subscriptions.ts';

/** An event to emit. This folder sends every event alike, whatever it means. */
interface EventToEmit {
  readonly workspaceId: string;
  readonly name: EventName;
  readonly conversationId: string;
  readonly contactId: string;
  /** What filters look at. */
  readonly facts: EventFacts;
  /** Makes the payload from the event's id. Called only if a subscription asks for the event. */
  readonly payload: (id: string) => object;
}

/**
 * Stores an event, and a pending delivery for each subscription that asks for it, in the caller's
 * transaction. A removed subscription gets one too, in case it is revived; a paused one does not.
 * Nothing is stored when no subscription asks for the event.
 */
export async function emit(
  tx: Tx,
  { workspaceId, name, conversationId, contactId, facts, payload }: EventToEmit,
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
    contactId,
    facts,
    body: JSON.stringify(payload(id)),
    createdAt: timestamp(now),
  };
  await tx.events.put(event);
  for (const subscription of subscriptions) await queueDelivery(tx, event, subscription.id, now);
}

/**
 * Stores a pending delivery of an event and queues its first attempt.
 * @param trigger `manual`: a person asked for it, and it goes out even while the subscription is
 * paused
 */
export function queueDelivery(
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
    ...(event.conversationId === null && { isTest: true }),
    status: 'pending',
    attempts: [],
    roundStart: 0,
    trigger,
    isRepeat: false,
    everDelivered: false,
    nextAttemptAt: timestamp(now),
    createdAt: timestamp(now),
  };
  return putPending(tx, delivery, RANK.new, now);
}

/** How a finished delivery is sent again. */
export interface Round extends Pick<Delivery, 'trigger' | 'isRepeat'> {
  readonly rank: (typeof RANK)[keyof typeof RANK];
}

/** Queues a finished delivery for another round of attempts. */
export const requeueDelivery = (
  tx: Tx,
  delivery: Delivery,
  round: Round,
  now: Date,
): Promise<Delivery> => putPending(tx, requeue(delivery, round, now), round.rank, now);

/** Stores a delivery with its job. The job has the delivery's id, so there is never a second one. */
async function putPending(
  tx: Tx,
  delivery: Delivery,
  rank: Round['rank'],
  now: Date,
): Promise<Delivery> {
  await tx.deliveries.put(delivery);
  await tx.jobs.enqueue({
    id: delivery.id,
    queue: DELIVERY_QUEUE,
    group: workGroup(delivery.workspaceId, delivery.subscriptionId),
    runAt: now.getTime(),
    rank,
    data: {},
  });
  return delivery;
}
