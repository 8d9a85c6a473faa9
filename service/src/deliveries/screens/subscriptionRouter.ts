import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { deleteSubscription } from '../operations/deleteSubscription.ts';
import { getSubscriptionHealth } from '../operations/subscriptions.ts';
import {
  revokePreviousSecrets,
  rotateSubscriptionSecret,
} from '../operations/rotateSubscriptionSecret.ts';
import { sendTestEvent } from '../../events/index.ts';
import { isError } from '../../platform/html/errorPage.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import { addDeliveries } from './delivery/deliveryRoutes.ts';
import { addRecovery, recoveredView } from './recovery/recoveryRoutes.ts';
import { deliveriesList, deliveriesViewFrom, subscriptionHref } from './deliveriesList.ts';
import { rotatedSecretView } from './shownOnce.ts';
import { addChanges } from './changeRoutes.ts';
import { readSubscription, sendUnlessRemoved, showSubscription } from './showSubscription.ts';
import { subscriptionState } from './subscriptionState.ts';

/** One subscription: its page, the parts that load again, and the actions on it. */
export function subscriptionRouter(deps: Deps): Router {
  const router = Router();
  addPages(router, deps);
  addDeliveries(router, deps);
  addTestEvent(router, deps);
  addRecovery(router, deps);
  addChanges(router, deps);
  addSubscriptionActions(router, deps);
  // A page that answered a POST has the form's address. Opening it leads back to the subscription.
  router.get(
    ['/keys/subscriptions/:id/:action', '/keys/subscriptions/:id/deliveries/:deliveryId/redeliver'],
    ({ params }, response) =>
      response.redirect(303, `/keys/subscriptions/${encodeURIComponent(String(params.id))}`),
  );
  return router;
}

function addPages(router: Router, deps: Deps): void {
  router.get('/keys/subscriptions/:id', ({ params, query }, response) =>
    showSubscription(deps, response, params.id, 200, {
      view: deliveriesViewFrom(query),
      notice: query.notice,
      recovered: recoveredView(params.id, query),
    }),
  );

  router.get('/keys/subscriptions/:id/live/state', ({ params }, response) =>
    sendUnlessRemoved(response, async () => {
      const workspace = workspaceOf(response);
      const health = await getSubscriptionHealth(deps, workspace, params.id);
      return subscriptionState(signedInOf(response), health, deps.clock.now());
    }),
  );

  router.get('/keys/subscriptions/:id/live/deliveries', ({ params, query }, response) =>
    sendUnlessRemoved(response, async () => {
      const view = deliveriesViewFrom(query);
      const { health, ...read } = await readSubscription(deps, response, params.id, view);
      const subscriptionId = health.subscription.id;
      const page = { subscriptionId, ...read, view, now: deps.clock.now() };
      return deliveriesList(signedInOf(response), page);
    }),
  );
}

function addTestEvent(router: Router, deps: Deps): void {
  router.post('/keys/subscriptions/:id/test', async ({ params }, response) => {
    const { id } = await sendTestEvent(deps, workspaceOf(response), params.id);
    response.redirect(303, subscriptionHref(params.id, { open: id }, { notice: 'test-event' }));
  });
}

function addSubscriptionActions(router: Router, deps: Deps): void {
  router.post('/keys/subscriptions/:id/rotate-secret', async ({ params: { id } }, response) => {
    try {
      const rotated = await rotateSubscriptionSecret(deps, workspaceOf(response), id);
      const shownOnce = rotatedSecretView(rotated.secret, rotated.overlapEndsAt);
      await showSubscription(deps, response, id, 201, { shownOnce });
    } catch (error) {
      if (!isError(error, 'secret_limit_reached')) throw error;
      const problem =
        'This subscription already has five valid secrets. Revoke the previous ones, or wait until one expires.';
      await showSubscription(deps, response, id, 409, { problem });
    }
  });

  router.post(
    '/keys/subscriptions/:id/revoke-previous-secrets',
    async ({ params: { id } }, response) => {
      await revokePreviousSecrets(deps, workspaceOf(response), id);
      response.redirect(303, subscriptionHref(id, {}, { notice: 'secrets-revoked' }));
    },
  );

  router.post('/keys/subscriptions/:id/remove', async ({ params }, response) => {
    await deleteSubscription(deps, workspaceOf(response), params.id);
    response.redirect(303, '/keys?notice=unsubscribed');
  });
}
