import type { Response } from 'express';
import { inOneTransaction, type Deps } from '../../platform/deps.ts';
import { listDeliveries } from '../operations/deliveries.ts';
import { conversationsOf } from '../operations/deliveryDetails.ts';
import { getSubscriptionHealth } from '../operations/subscriptions.ts';
import { parseCursor } from '../../platform/http/page.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import type { DeliveriesView } from './deliveriesList.ts';
import { subscriptionPage, type SubscriptionPageExtras } from './subscriptionPage.ts';

const PAGE_SIZE = 25;

/** A subscription and a page of its deliveries. @throws not_found (404) */
export const readSubscription = (
  deps: Deps,
  response: Response,
  id: string,
  { status, cursor }: DeliveriesView = {},
) =>
  inOneTransaction(deps, async (within) => {
    const workspace = workspaceOf(response);
    const health = await getSubscriptionHealth(within, workspace, id);
    const filter = status === undefined ? {} : { status };
    const page = { limit: PAGE_SIZE, cursor: parseCursor(cursor) };
    const deliveries = await listDeliveries(within, workspace, id, filter, page);
    return { health, deliveries, conversations: await conversationsOf(within, deliveries.items) };
  });

/** Answers with the page of a subscription. @throws not_found (404) */
export async function showSubscription(
  deps: Deps,
  response: Response,
  id: string,
  status: number,
  extras: SubscriptionPageExtras,
): Promise<void> {
  const read = await readSubscription(deps, response, id, extras.view);
  const page = { ...read, now: deps.clock.now(), ...extras };
  sendPage(response, subscriptionPage(signedInOf(response), page), status);
}
