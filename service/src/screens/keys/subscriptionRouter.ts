import { Router, type Response } from 'express';
import { DELIVERY_STATUSES } from '../../domain/delivery.ts';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { inOneTransaction } from '../../domain/inOneTransaction.ts';
import { deleteSubscription } from '../../domain/operations/deleteSubscription.ts';
import { getSubscriptionHealth } from '../../domain/operations/getSubscriptionHealth.ts';
import { listDeliveries } from '../../domain/operations/listDeliveries.ts';
import { recoverDeliveries } from '../../domain/operations/recoverDeliveries.ts';
import { redeliver } from '../../domain/operations/redeliver.ts';
import { revokePreviousSecrets } from '../../domain/operations/revokePreviousSecrets.ts';
import { rotateSubscriptionSecret } from '../../domain/operations/rotateSubscriptionSecret.ts';
import { sendTestEvent } from '../../domain/operations/sendTestEvent.ts';
import { parseCursor } from '../../domain/page.ts';
import { formValues, type FormValues } from '../forms.ts';
import { render, renderDocument, type View } from '../html.ts';
import { signedInOf } from '../session.ts';
import { exactTime } from '../times.ts';
import { deliveriesList } from './deliveriesList.ts';
import { addressOf, type DeliveriesView } from './deliveriesView.ts';
import { parseSince } from './recoverForm.ts';
import { rotatedSecretView } from './shownOnce.ts';
import { removedView, subscriptionPage, type SubscriptionPageExtras } from './subscriptionPage.ts';
import { subscriptionState } from './subscriptionState.ts';

const PAGE_SIZE = 25;

/** One subscription: its state, its deliveries, and what can be done with them. */
export function subscriptionRouter(deps: Deps): Router {
  const router = Router();

  const read = (response: Response, id: string, { status, cursor }: DeliveriesView) =>
    inOneTransaction(deps, async (within) => {
      const { workspace } = signedInOf(response);
      const health = await getSubscriptionHealth(within, workspace, id);
      const page = { limit: PAGE_SIZE, cursor: parseCursor(cursor) };
      return {
        health,
        deliveries: await listDeliveries(
          within,
          workspace,
          id,
          status === undefined ? {} : { status },
          page,
        ),
      };
    });
  const show = async (response: Response, id: string, extras: SubscriptionPageExtras) =>
    renderDocument(
      subscriptionPage(signedInOf(response), {
        ...(await read(response, id, extras.view)),
        now: deps.clock.now(),
        ...extras,
      }),
    );
  /**
   * A live part; of a subscription that is gone it says so, since a receiver may end one by
   * answering 410.
   */
  const sendPart = async (response: Response, part: () => Promise<View>) =>
    void response.type('html').send(
      render(
        await part().catch((error: unknown) => {
          if (error instanceof AppError && error.code === 'not_found') return removedView;
          throw error;
        }),
      ),
    );

  router.get('/keys/subscriptions/:id', async (request, response) => {
    const { notice, recovered } = request.query;
    const count =
      typeof recovered === 'string' && /^\d{1,9}$/.test(recovered) ? Number(recovered) : undefined;
    response.type('html').send(
      await show(response, request.params.id, {
        view: viewOf(request.query),
        notice,
        recovered: count,
      }),
    );
  });

  router.get('/keys/subscriptions/:id/live/state', (request, response) =>
    sendPart(response, async () =>
      subscriptionState(
        await getSubscriptionHealth(deps, signedInOf(response).workspace, request.params.id),
        deps.clock.now(),
      ),
    ),
  );

  router.get('/keys/subscriptions/:id/live/deliveries', (request, response) =>
    sendPart(response, async () => {
      const view = viewOf(request.query);
      const { deliveries, health } = await read(response, request.params.id, view);
      return deliveriesList(signedInOf(response), {
        subscriptionId: health.subscription.id,
        deliveries,
        view,
        now: deps.clock.now(),
      });
    }),
  );

  router.post('/keys/subscriptions/:id/test', async (request, response) => {
    const { id } = await sendTestEvent(deps, signedInOf(response).workspace, request.params.id);
    response.redirect(303, addressOf(request.params.id, { open: id }, { notice: 'test-event' }));
  });

  router.post(
    '/keys/subscriptions/:id/deliveries/:deliveryId/redeliver',
    async (request, response) => {
      const { id, deliveryId } = request.params;
      const view = { ...viewOf(formValues(request.body)), open: deliveryId };
      try {
        await redeliver(deps, signedInOf(response).workspace, id, deliveryId);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'delivery_pending') throw error;
        const problem = 'This delivery is still on its way. Wait until it has finished.';
        return void response
          .status(409)
          .type('html')
          .send(await show(response, id, { view, problem }));
      }
      response.redirect(303, addressOf(id, view, { notice: 'sent-again' }));
    },
  );

  router.post('/keys/subscriptions/:id/recover', async (request, response) => {
    const { id } = request.params;
    const values = formValues(request.body);
    const since = parseSince(values);
    if (since === null) {
      const recoverForm = { values, problems: { since: 'Must be a date and a time.' } };
      return void response
        .status(400)
        .type('html')
        .send(await show(response, id, { view: {}, recoverForm }));
    }
    const recovered = await recoverDeliveries(deps, signedInOf(response).workspace, id, since);
    response.redirect(303, addressOf(id, {}, { recovered: String(recovered) }));
  });

  router.post('/keys/subscriptions/:id/rotate-secret', async (request, response) => {
    const { id } = request.params;
    const rotated = await rotateSubscriptionSecret(deps, signedInOf(response).workspace, id).catch(
      (error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'secret_limit_reached') throw error;
        return null;
      },
    );
    if (rotated === null) {
      const problem =
        'Five secrets sign already. Revoke the replaced ones first, or wait until one of them expires.';
      return void response
        .status(409)
        .type('html')
        .send(await show(response, id, { view: {}, problem }));
    }
    const { secret, overlapEndsAt } = rotated;
    response
      .status(201)
      .type('html')
      .send(
        await show(response, id, {
          view: {},
          once: rotatedSecretView(secret, exactTime(overlapEndsAt)),
        }),
      );
  });

  router.post('/keys/subscriptions/:id/revoke-previous-secrets', async (request, response) => {
    const { id } = request.params;
    await revokePreviousSecrets(deps, signedInOf(response).workspace, id);
    response.redirect(303, addressOf(id, {}, { notice: 'secrets-revoked' }));
  });

  router.post('/keys/subscriptions/:id/remove', async (request, response) => {
    await deleteSubscription(deps, signedInOf(response).workspace, request.params.id);
    response.redirect(303, '/keys?notice=unsubscribed');
  });

  // A page that answered a POST keeps its address: loading it again leads back to the subscription.
  router.get(
    ['/keys/subscriptions/:id/:action', '/keys/subscriptions/:id/deliveries/:deliveryId/redeliver'],
    (request, response) =>
      response.redirect(
        303,
        `/keys/subscriptions/${encodeURIComponent(String(request.params.id))}`,
      ),
  );

  return router;
}

/** Which deliveries are wanted, out of an address or a form; what makes no sense is left out. */
function viewOf(values: FormValues | Record<string, unknown>): DeliveriesView {
  const text = (name: string) =>
    typeof values[name] === 'string' && values[name] !== '' ? values[name] : undefined;
  return {
    status: DELIVERY_STATUSES.find((each) => each === text('status')),
    cursor: text('cursor'),
    open: text('open'),
  };
}
