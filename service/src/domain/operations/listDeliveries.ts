import type { Deps } from '../deps.ts';
import type { DeliveryStatus } from '../delivery.ts';
import { pageOf, type PageRequest } from '../page.ts';
import { lineageOf } from '../subscription.ts';
import type { Workspace } from '../workspace.ts';
import { peekSubscription } from './loadSubscription.ts';

/**
 * What a subscription is owed and was sent, newest first; with that of those whose place it took.
 * @throws not_found (404)
 */
export const listDeliveries = (
  { store }: Deps,
  workspace: Workspace,
  id: string,
  filter: { status?: DeliveryStatus },
  page: PageRequest,
) =>
  store.transaction(async (tx) => {
    const subscriptionId = lineageOf(await peekSubscription(tx, workspace, id));
    return pageOf(page, (query) =>
      tx.deliveries.find({ where: { subscriptionId, ...filter }, direction: 'desc', ...query }),
    );
  });
