import type { Tx } from '../collections.ts';
import { requeue, type Delivery } from '../delivery.ts';
import type { Deps } from '../deps.ts';
import { enqueueDelivery } from '../emitEvent.ts';
import { AppError, ERROR_CATALOGUE, notFound } from '../errorCatalogue.ts';
import type { Workspace } from '../workspace.ts';
import { peekSubscription } from './loadSubscription.ts';

/**
 * Sends a finished delivery again: the same event id and body, marked as manual.
 * @param deliveryOrEventId a `dlv_` or an `evt_` id
 * @throws delivery_pending (409), not_found (404)
 */
export const redeliver = (
  { store, clock }: Deps,
  workspace: Workspace,
  subscriptionId: string,
  deliveryOrEventId: string,
) =>
  store.transaction(async (tx): Promise<Delivery> => {
    await peekSubscription(tx, workspace, subscriptionId);
    const delivery = await findDelivery(tx, subscriptionId, deliveryOrEventId);
    if (!delivery) throw notFound('delivery', deliveryOrEventId);
    if (delivery.status === 'pending') {
      throw new AppError(
        'delivery_pending',
        `Delivery ${delivery.id} is still on its way. ${ERROR_CATALOGUE.delivery_pending.fix}`,
      );
    }
    return sendAgain(tx, delivery, { isRepeat: true }, clock.now());
  });

async function findDelivery(tx: Tx, subscriptionId: string, id: string): Promise<Delivery | null> {
  if (id.startsWith('evt_')) {
    const [delivery] = await tx.deliveries.find({
      where: { subscriptionId, eventId: id },
      limit: 1,
    });
    return delivery ?? null;
  }
  const delivery = await tx.deliveries.get(id);
  return delivery?.subscriptionId === subscriptionId ? delivery : null;
}

/**
 * Queues a finished delivery once more, behind fresh ones.
 * @param round.isRepeat whether a receiver that deduplicates is asked to take it again
 */
export async function sendAgain(
  tx: Tx,
  delivery: Delivery,
  { isRepeat }: { isRepeat: boolean },
  now: Date,
): Promise<Delivery> {
  const again = requeue(delivery, { trigger: 'manual', isRepeat }, now);
  await tx.deliveries.put(again);
  await enqueueDelivery(tx, again, now.getTime(), 1);
  return again;
}
