import type { Tx } from '../../store/collections.ts';
import type { Delivery } from '../delivery.ts';
import type { Event } from '../event.ts';

/**
 * Whether the contact that an event is about was forgotten. From then on the event is neither sent
 * nor shown, though it takes a job a while to remove it.
 * @see docs/decisions/0050-what-forgetting-a-contact-removes.md
 */
export const isAboutForgotten = async (tx: Tx, { contactId }: Event): Promise<boolean> =>
  contactId !== undefined && (await tx.contacts.peek(contactId))?.forgotten !== undefined;

/** The deliveries that may be shown: none about a forgotten contact. */
export async function withoutForgotten(
  tx: Tx,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const areShown = await Promise.all(
    deliveries.map(async ({ eventId }) => {
      const event = await tx.events.peek(eventId);
      return event === null || !(await isAboutForgotten(tx, event));
    }),
  );
  return deliveries.filter((_, at) => areShown[at]);
}
