import type { Tx } from '../collections.ts';
import { errorOf, stateOf } from '../sending.ts';

/** No message has so many parts. */
const MAX_PARTS = 1000;

/**
 * A message shows how far all of its parts have come, and why the first of those failed that did.
 */
export async function showDelivery(tx: Tx, messageId: string): Promise<void> {
  const message = await tx.messages.get(messageId);
  if (!message) return;
  const parts = await tx.sendings.find({
    where: { messageId },
    orderBy: 'part',
    limit: MAX_PARTS,
  });
  await tx.messages.put({ ...message, delivery: { state: stateOf(parts), error: errorOf(parts) } });
}
