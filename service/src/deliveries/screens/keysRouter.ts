import { Router } from 'express';
import { type Deps, inOneTransaction } from '../../platform/deps.ts';
import { readWeek } from '../../overview/index.ts';
import { listApiKeys, signedInOf, workspaceOf } from '../../team/index.ts';
import { createSubscription } from '../operations/createSubscription.ts';
import { listSubscriptionHealth } from '../operations/subscriptions.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { addDeliverySearch } from './delivery/deliveryRoutes.ts';
import { addKeys, addNewKey, type Show } from './keys/keyRoutes.ts';
import { keysPage } from './keysPage.ts';
import { newSubscriptionSchema } from './newSubscription.ts';
import { newSubscriptionView } from './shownOnce.ts';
import { subscriptionInput, subscriptionProblems } from './subscriptionFields.ts';
import { subscriptionRouter } from './subscriptionRouter.ts';
import { subscriptionsList } from './subscriptionState.ts';

/**
 * API keys and subscriptions, on one screen. A new key or secret is shown only in the answer to the
 * POST that created it.
 * @param publicUrl the service's public URL, for the credential in n8n
 */
export function keysRouter(deps: Deps, publicUrl: () => string): Router {
  const router = Router();
  const show: Show = async (response, status, extras) => {
    const signedIn = signedInOf(response);
    const lists = await inOneTransaction(deps, async (within) => ({
      apiKeys: await listApiKeys(within, signedIn.workspace),
      subscriptions: await listSubscriptionHealth(within, signedIn.workspace),
      week: await readWeek(within, signedIn.workspace, 'attempt'),
    }));
    sendPage(response, keysPage(signedIn, { ...lists, now: deps.clock.now(), ...extras }), status);
  };

  router.get('/keys', ({ query }, response) => show(response, 200, { notice: query.notice }));

  addNewKey(router, deps, show, publicUrl);
  addSubscriptions(router, deps, show);

  // A page that answered a POST has the form's address. Opening it leads back to the screen.
  router.get(['/keys/subscriptions', '/keys/:id/revoke'], (_request, response) =>
    response.redirect(303, '/keys'),
  );
  addDeliverySearch(router, deps);
  addKeys(router, deps);

  router.use(subscriptionRouter(deps));
  return router;
}

function addSubscriptions(router: Router, deps: Deps, show: Show): void {
  router.get('/keys/live/subscriptions', async (_request, response) => {
    const workspace = workspaceOf(response);
    const subscriptions = await listSubscriptionHealth(deps, workspace);
    const week = await readWeek(deps, workspace, 'attempt');
    sendPart(response, subscriptionsList(subscriptions, week, deps.clock.now()));
  });

  router.post('/keys/subscriptions', async (request, response) => {
    const workspace = workspaceOf(response);
    const values = readForm(request);
    const input = { ...subscriptionInput(values), source: values.source };
    const form = parseForm(newSubscriptionSchema, values, input);
    if (!form.ok) return show(response, 400, { subscriptionForm: form });
    try {
      const { subscription, secret } = await createSubscription(deps, workspace, form.data);
      await show(response, 201, { shownOnce: newSubscriptionView(secret, subscription) });
    } catch (error) {
      const { status, ...refused } = subscriptionProblems(error);
      await show(response, status, { subscriptionForm: { values, ...refused } });
    }
  });
}
