import type { Tx } from '../collections.ts';
import type { RetiredSubscription } from '../retiredSubscription.ts';
import type { Subscription } from '../subscription.ts';

/** Who gets a lineage's deliveries now: its living subscription, or the retired one that waits for a successor; both null when nobody does any more. */
export interface LineageHolder {
  readonly subscription: Subscription | null;
  readonly retired: RetiredSubscription | null;
}

export async function findLineageHolder(tx: Tx, lineageId: string): Promise<LineageHolder> {
  const subscription = (await tx.subscriptions.peek(lineageId)) ?? (await tx.subscriptions.find({ where: { lineageId }, limit: 1 }))[0] ?? null;
  const [retired = null] = subscription === null ? await tx.retiredSubscriptions.find({ where: { lineageId }, limit: 1 }) : [];
  return { subscription, retired };
}
