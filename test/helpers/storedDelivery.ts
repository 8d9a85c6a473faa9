import { newId } from '../../service/src/platform/ids.ts';
import type { Delivery } from '../../service/src/deliveries/delivery.ts';

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
