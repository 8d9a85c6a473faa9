import type { Tx } from '../../store/collections.ts';
import { requeue, hasFailedSince, type DeliveryStatus, type Delivery } from '../delivery.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix, notFound } from '../../platform/http/errorCatalogue.ts';
import {
  following,
  newestFirst,
  sumOfBatches,
  type PageRequest,
} from '../../platform/http/page.ts';
import type { Workspace } from '../../team/index.ts';
import { enqueueDelivery } from './emit.ts';
import { peekSubscription } from './subscriptions.ts';

/**
 * What a subscription is owed and was sent, newest first.
 * @throws not_found (404)
 */
export const listDeliveries = (
  { store }: Deps,
  workspace: Workspace,
  subscriptionId: string,
  filter: { status?: DeliveryStatus; eventId?: string },
  page: PageRequest,
) =>
  store.transaction(async (tx) => {
    await peekSubscription(tx, workspace, subscriptionId);
    return newestFirst(tx.deliveries, { subscriptionId, ...filter }, page);
  });

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
      throw errorWithFix('delivery_pending', `Delivery ${delivery.id} is still on its way.`);
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
async function sendAgain(
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

/** Read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Sends again every delivery that failed since a time and never succeeded; what is pending is left
 * alone. The time is that of the failure; the event may be older. The same event ids go out, and a
 * receiver that has taken one after all (its answer was lost) may drop it. Recovering twice, at once
 * or after a crash, queues nothing twice.
 * @returns how many deliveries this call queued
 * @throws not_found (404)
 */
export async function recoverDeliveries(
  deps: Deps,
  workspace: Workspace,
  subscriptionId: string,
  since: Date,
): Promise<number> {
  return sumOfBatches(deps, async (tx, from) => {
    await peekSubscription(tx, workspace, subscriptionId);
    const where = { subscriptionId, status: 'failed' } as const;
    const failed = await tx.deliveries.find({ where, limit: BATCH, ...from });
    const wanted = failed.filter((each) => hasFailedSince(each, since));
    for (const delivery of wanted)
      await sendAgain(tx, delivery, { isRepeat: false }, deps.clock.now());
    return { result: wanted.length, next: following(failed, BATCH) };
  });
}
