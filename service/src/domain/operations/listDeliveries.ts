import type { Deps } from '../deps.ts';
import type { DeliveryStatus } from '../delivery.ts';
import { pageOf, type PageRequest } from '../page.ts';
import type { Workspace } from '../workspace.ts';
import { peekSubscription } from './loadSubscription.ts';

/**
 * What a subscription is owed and was sent, newest first.
 * @throws not_found (404)
 */
export const listDeliveries = (
  { store }: Deps,
  workspace: Workspace,
  subscriptionId: string,
  filter: { status?: DeliveryStatus },
  page: PageRequest,
) =>
  store.transaction(async (tx) => {
    await peekSubscription(tx, workspace, subscriptionId);
    return pageOf(page, (query) =>
      tx.deliveries.find({ where: { subscriptionId, ...filter }, direction: 'desc', ...query }),
    );
  });
