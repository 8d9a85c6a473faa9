import { type Response, Router } from 'express';
import { z } from 'zod';
import { type Deps, inOneTransaction } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import {
  createApiKey,
  getApiKey,
  listApiKeys,
  revokeApiKey,
  signedInOf,
  workspaceOf,
} from '../../team/index.ts';
import { createSubscription } from '../operations/subscribe.ts';
import { listSubscriptionHealth } from '../operations/subscriptions.ts';
import { listReveals } from '../../conversations/index.ts';
import { parseCursor } from '../../platform/http/page.ts';
import { textSchema } from '../../platform/http/schemas.ts';
import { parseForm, readForm } from '../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { apiKeysList, keysPage, type KeysPageExtras } from './keysPage.ts';
import { newSubscriptionSchema } from './newSubscription.ts';
import { newKeyView, newSubscriptionView } from './shownOnce.ts';
import { subscriptionInput, subscriptionProblems } from './subscriptionFields.ts';
import { revealsPage } from './revealsPage.ts';
import { subscriptionRouter } from './subscriptionRouter.ts';
import { subscriptionsList } from './subscriptionState.ts';

const newKeySchema = z.object({ name: textSchema(100), reveal: z.literal('on').optional() });

const REVEALS_PAGE = 100;

/** Answers with the whole screen. */
type Show = (response: Response, status: number, extras: KeysPageExtras) => Promise<void>;

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
    }));
    sendPage(response, keysPage(signedIn, { ...lists, now: deps.clock.now(), ...extras }), status);
  };

  router.get('/keys', ({ query }, response) => show(response, 200, { notice: query.notice }));

  addKeyForm(router, deps, show, publicUrl);
  addKeys(router, deps);
  addSubscriptions(router, deps, show);

  // A page that answered a POST has the form's address. Reloading it leads back to the screen.
  router.get(['/keys/subscriptions', '/keys/:id/revoke'], (_request, response) =>
    response.redirect(303, '/keys'),
  );

  router.use(subscriptionRouter(deps));
  return router;
}

function addKeyForm(router: Router, deps: Deps, show: Show, publicUrl: () => string): void {
  router.post('/keys', async (request, response) => {
    const { workspace, member } = signedInOf(response);
    const values = readForm(request);
    const form = parseForm(newKeySchema, values);
    if (!form.ok) return show(response, 400, { keyForm: form });
    try {
      const { name, reveal } = form.data;
      const permissions = reveal === undefined ? [] : (['contacts:reveal'] as const);
      const wanted = { name: name.trim(), createdBy: member.name, permissions };
      const { key, apiKey } = await createApiKey(deps, workspace, wanted);
      await show(response, 201, { once: newKeyView(key, apiKey, publicUrl()) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const keyForm = { values, problems: { name: error.message } };
      await show(response, error.status, { keyForm });
    }
  });
}

function addKeys(router: Router, deps: Deps): void {
  router.get('/keys/live/api-keys', async (_request, response) => {
    const signedIn = signedInOf(response);
    const apiKeys = await listApiKeys(deps, signedIn.workspace);
    sendPart(response, apiKeysList(signedIn, apiKeys, deps.clock.now()));
  });

  router.get('/keys/:id/reveals', async ({ params, query }, response) => {
    const signedIn = signedInOf(response);
    const apiKey = await getApiKey(deps, signedIn.workspace, params.id);
    const cursor = parseCursor(typeof query.after === 'string' ? query.after : undefined);
    const reveals = await listReveals(deps, apiKey.id, { limit: REVEALS_PAGE, cursor });
    sendPage(response, revealsPage(signedIn, apiKey, reveals, deps.clock.now()));
  });

  router.post('/keys/:id/revoke', async ({ params }, response) => {
    await revokeApiKey(deps, workspaceOf(response), params.id);
    response.redirect(303, '/keys?notice=key-revoked');
  });
}

function addSubscriptions(router: Router, deps: Deps, show: Show): void {
  router.get('/keys/live/subscriptions', async (_request, response) => {
    const subscriptions = await listSubscriptionHealth(deps, workspaceOf(response));
    sendPart(response, subscriptionsList(subscriptions, deps.clock.now()));
  });

  router.post('/keys/subscriptions', async (request, response) => {
    const workspace = workspaceOf(response);
    const values = readForm(request);
    const input = { ...subscriptionInput(values), source: values.source };
    const form = parseForm(newSubscriptionSchema, values, input);
    if (!form.ok) return show(response, 400, { subscriptionForm: form });
    try {
      const { subscription, secret } = await createSubscription(deps, workspace, form.data);
      await show(response, 201, { once: newSubscriptionView(secret, subscription) });
    } catch (error) {
      const { status, ...refused } = subscriptionProblems(error);
      await show(response, status, { subscriptionForm: { values, ...refused } });
    }
  });
}
