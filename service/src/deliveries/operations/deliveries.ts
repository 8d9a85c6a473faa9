import type { Tx } from '../../store/collections.ts';
import { hasFailedSince, RANK, type DeliveryStatus, type Delivery } from '../delivery.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix, notFound } from '../../platform/http/errorCatalogue.ts';
import {
  following,
  newestFirst,
  sumOfBatches,
  type PageRequest,
} from '../../platform/http/page.ts';
import type { Workspace } from '../../team/index.ts';
import { requeueDelivery } from './emit.ts';
import { withoutForgotten } from './forgotten.ts';
import { peekSubscription } from './subscriptions.ts';

/**
 * The deliveries of a subscription, newest first.
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
    const found = await newestFirst(tx.deliveries, { subscriptionId, ...filter }, page);
    return { ...found, items: await withoutForgotten(tx, found.items) };
  });

/**
 * Sends a finished delivery again, behind new ones: the same event id and body, marked as manual.
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
    const found = await findDelivery(tx, subscriptionId, deliveryOrEventId);
    const [delivery] = await withoutForgotten(tx, found ? [found] : []);
    if (!delivery) throw notFound('delivery', deliveryOrEventId);
    if (delivery.status === 'pending') {
      throw errorWithFix('delivery_pending', `Delivery ${delivery.id} is still on its way.`);
    }
    const round = { trigger: 'manual', isRepeat: true, rank: RANK.behindNew } as const;
    return requeueDelivery(tx, delivery, round, clock.now());
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

/** Deliveries read in one transaction, so that no other write waits long. */
const BATCH = 500;

/**
 * Sends again every delivery that failed since a time and never succeeded, except test events. The
 * time is that of the failure; the event may be older. The event ids stay the same: a receiver that
 * took an event, and whose answer was lost, can drop it. Recovering twice, at once or after a crash,
 * queues nothing twice.
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
    const round = { trigger: 'manual', isRepeat: false, rank: RANK.behindNew } as const;
    for (const delivery of wanted) await requeueDelivery(tx, delivery, round, deps.clock.now());
    return { result: wanted.length, next: following(failed, BATCH) };
  });
}
