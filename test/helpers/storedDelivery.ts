import { newId } from '../../service/src/platform/ids.ts';
import type { Delivery } from '../../service/src/deliveries/delivery.ts';
import type { Event } from '../../service/src/deliveries/event.ts';

/** A delivery as it is stored, new and pending except for what a test says of it. */
export const storedDelivery = (own: Partial<Delivery> & Pick<Delivery, 'createdAt'>): Delivery => ({
  id: newId('dlv'),
  workspaceId: 'w',
  subscriptionId: 's',
  eventId: newId('evt'),
  event: 'message.sent',
  status: 'pending',
  attempts: [],
  roundStart: 0,
  trigger: 'automatic',
  isRepeat: false,
  everDelivered: false,
  nextAttemptAt: null,
  ...own,
});

/** An event as it is stored. */
export const storedEvent = (own: Partial<Event> = {}): Event => ({
  id: newId('evt'),
  workspaceId: 'w',
  name: 'message.sent',
  conversationId: null,
  body: '{}',
  createdAt: '',
  ...own,
});
