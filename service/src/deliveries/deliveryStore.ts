import { collection } from '../store/store.ts';
import type { Subscription } from './subscription.ts';
import type { Delivery } from './delivery.ts';
import type { Event } from './event.ts';

declare module '../store/collections.ts' {
  interface Collections {
    subscriptions: Subscription;
    events: Event;
    deliveries: Delivery;
  }
}

export const deliveryCollections = {
  subscriptions: collection<Subscription>({
    indexes: [{ on: ['workspaceId'] }],
  }),
  events: collection<Event>({ indexes: [{ on: [] }] }),
  deliveries: collection<Delivery>({
    indexes: [
      { on: [] },
      { on: ['subscriptionId'] },
      { on: ['subscriptionId', 'status'] },
      { on: ['subscriptionId', 'eventId'], unique: true },
    ],
  }),
};
