import type { Response } from 'express';
import { inOneTransaction, type Deps } from '../../platform/deps.ts';
import { listDeliveries } from '../operations/deliveries.ts';
import { conversationsOf } from '../operations/deliveryDetails.ts';
import { getSubscriptionHealth } from '../operations/subscriptions.ts';
import { parseCursor } from '../../platform/http/page.ts';
import { isError } from '../../platform/html/errorPage.ts';
import { sendPage, sendPart, type View } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import type { DeliveriesView } from './deliveriesList.ts';
import { removedView, subscriptionPage, type SubscriptionPageExtras } from './subscriptionPage.ts';

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

/**
 * Answers with a part of a page, or says that the subscription was removed: a receiver can end it with
 * the status 410 while its page is open.
 */
export async function sendUnlessRemoved(
  response: Response,
  part: () => Promise<View>,
): Promise<void> {
  const view = await part().catch((error: unknown) => {
    if (isError(error, 'not_found')) return removedView;
    throw error;
  });
  sendPart(response, view);
}
