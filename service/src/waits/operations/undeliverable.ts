import type { Tx } from '../../store/collections.ts';
import { isOpen } from '../wait.ts';
import { enqueueWait } from './waits.ts';

/**
 * A message of a wait failed on its channel. The worker looks whether it was the question, with the
 * conversation locked, which has its turn before messages.
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function noteUndeliverable(tx: Tx, waitId: string, now: Date): Promise<void> {
  const wait = await tx.waits.peek(waitId);
  if (wait && isOpen(wait)) await enqueueWait(tx, wait, now.getTime());
}
