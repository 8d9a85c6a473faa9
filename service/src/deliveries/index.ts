/** What other subjects may use of deliveries/; nothing else. */

export {
  type Delivery,
  type Event,
  EVENT_DESCRIPTIONS,
  EVENT_NAMES,
  type EventName,
} from './delivery.ts';
export { MAX_REMOVED_SUBSCRIPTIONS, MAX_SUBSCRIPTIONS } from './subscription.ts';
export { queueDelivery } from './operations/deliveries.ts';
export { peekSubscription } from './operations/subscriptions.ts';
