/** What other subjects may use of deliveries/; nothing else. */

export type { Delivery } from './delivery.ts';
export type { EventFacts } from './filter.ts';
export { EVENT_DESCRIPTIONS, EVENT_NAMES, type EventName } from './event.ts';
export type { Subscription } from './subscription.ts';
export { emit, queueDelivery } from './operations/emit.ts';
export { findActiveSubscriptions, peekSubscription } from './operations/subscriptions.ts';
