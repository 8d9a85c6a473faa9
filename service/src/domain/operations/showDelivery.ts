import type { Tx } from '../collections.ts';
import { stateOf } from '../sending.ts';

/** No message has so many parts. */
const MOST_PARTS = 1000;

/** A message shows how far all of its parts have come, and why the first of them failed. */
export async function showDelivery(tx: Tx, messageId: string): Promise<void> {
  const message = await tx.messages.get(messageId);
  if (!message) return;
  const parts = await tx.sendings.find({ where: { messageId }, orderBy: 'part', limit: MOST_PARTS });
  const failed = parts.find(({ status }) => status === 'failed');
  await tx.messages.put({ ...message, delivery: { state: stateOf(parts), error: failed?.error ?? null } });
}
