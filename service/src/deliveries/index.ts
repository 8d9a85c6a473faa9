/** What other subjects may use of deliveries/; nothing else. */

export { type Delivery, EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from './delivery.ts';
export { emit, queueDelivery } from './operations/emit.ts';
export { peekSubscription } from './operations/subscriptions.ts';
