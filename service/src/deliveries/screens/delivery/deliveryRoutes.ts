import type { Response, Router } from 'express';
import type { Deps } from '../../../platform/deps.ts';
import { isError } from '../../../platform/html/errorPage.ts';
import { readForm } from '../../../platform/html/forms.ts';
import { sendPage } from '../../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../../team/index.ts';
import { redeliver } from '../../operations/deliveries.ts';
import {
  findDeliveries,
  getDeliveryDetails,
  signAsCurl,
} from '../../operations/deliveryDetails.ts';
import { deliveriesViewFrom, deliveryHref, subscriptionHref } from '../deliveriesList.ts';
import { sendUnlessRemoved, showSubscription } from '../showSubscription.ts';
import { deliveryPage, deliveryState, type DeliveryPageExtras } from './deliveryPage.ts';
import { foundPage } from './search.ts';

const PATH = '/keys/subscriptions/:id/deliveries/:deliveryId';

/** One delivery: its page, sending it again, and its curl command. */
export function addDeliveries(router: Router, deps: Deps): void {
  const show = async (
    response: Response,
    { id, deliveryId }: { id: string; deliveryId: string },
    { status = 200, ...extras }: DeliveryPageExtras & { status?: number } = {},
  ) => {
    const details = await getDeliveryDetails(deps, workspaceOf(response), id, deliveryId);
    const page = { details, now: deps.clock.now(), ...extras };
    sendPage(response, deliveryPage(signedInOf(response), page), status);
  };

  router.get(PATH, ({ params, query }, response) =>
    show(response, params, { notice: query.notice }),
  );

  router.get(`${PATH}/live`, ({ params: { id, deliveryId } }, response) =>
    sendUnlessRemoved(response, async () => {
      const details = await getDeliveryDetails(deps, workspaceOf(response), id, deliveryId);
      return deliveryState(signedInOf(response), details, deps.clock.now());
    }),
  );

  router.post(`${PATH}/redeliver`, async (request, response) => {
    const { id, deliveryId } = request.params;
    const form = readForm(request);
    const isFromItsPage = form.from === 'delivery';
    const view = { ...deliveriesViewFrom(form), open: deliveryId };
    try {
      const delivery = await redeliver(deps, workspaceOf(response), id, deliveryId);
      const more = { notice: 'resent' };
      const back = isFromItsPage ? deliveryHref(delivery, more) : subscriptionHref(id, view, more);
      response.redirect(303, back);
    } catch (error) {
      if (!isError(error, 'delivery_pending')) throw error;
      const problem = 'This delivery is still in progress. Resend it after it has finished.';
      if (isFromItsPage) return show(response, request.params, { status: 409, problem });
      await showSubscription(deps, response, id, 409, { view, problem });
    }
  });

  router.post(`${PATH}/curl`, async ({ params }, response) => {
    const { id, deliveryId } = params;
    const curl = await signAsCurl(deps, workspaceOf(response), id, deliveryId);
    if (curl !== null) return show(response, params, { curl });
    const problem = 'The payload is no longer kept, so the delivery cannot be copied.';
    await show(response, params, { status: 409, problem });
  });

  // A page that answered a POST has the form's address. Opening that again leads to the delivery.
  router.get(`${PATH}/curl`, ({ params }, response) =>
    response.redirect(303, deliveryHref({ id: params.deliveryId, subscriptionId: params.id })),
  );
}

/** Finds a delivery in all subscriptions. A single one is shown at once. */
export function addDeliverySearch(router: Router, deps: Deps): void {
  router.get('/keys/deliveries', async ({ query }, response) => {
    const id = typeof query.id === 'string' ? query.id.trim().slice(0, 64) : '';
    const found = await findDeliveries(deps, workspaceOf(response), id);
    if (found.length === 1) return response.redirect(303, deliveryHref(found[0]!.delivery));
    const page = { id, found, now: deps.clock.now() };
    sendPage(response, foundPage(signedInOf(response), page), found.length === 0 ? 404 : 200);
  });
}
