import { Router } from 'express';
import { z } from 'zod';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { inOneTransaction } from '../../domain/inOneTransaction.ts';
import { createApiKey } from '../../domain/operations/createApiKey.ts';
import { createSubscription } from '../../domain/operations/createSubscription.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { listApiKeys } from '../../domain/operations/listApiKeys.ts';
import { listSubscriptionHealth } from '../../domain/operations/listSubscriptionHealth.ts';
import { revokeApiKey } from '../../domain/operations/revokeApiKey.ts';
import { textSchema } from '../../http/contract/shared.ts';
import { formValues, parseForm } from '../forms.ts';
import { render, renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { apiKeysList } from './apiKeysList.ts';
import { keysPage, type KeysPageExtras } from './keysPage.ts';
import { newSubscriptionSchema, refusalOf } from './newSubscription.ts';
import { newKeyView, newSubscriptionView } from './shownOnce.ts';
import { subscriptionRouter } from './subscriptionRouter.ts';
import { subscriptionsList } from './subscriptionsList.ts';

const newKeySchema = z.object({ name: textSchema(100) });

/**
 * API keys and subscriptions on one screen. What is shown once stands in the answer to its POST
 * alone.
 * @param publicUrl the service's address as n8n is to be told it
 */
export function keysRouter(deps: Deps, publicUrl: () => string): Router {
  const router = Router();
  const show = async (signedIn: SignedIn, extras: KeysPageExtras = {}) => {
    const { workspace } = signedIn;
    const read = await inOneTransaction(deps, async (within) => ({
      apiKeys: await listApiKeys(within, workspace),
      subscriptions: await listSubscriptionHealth(within, workspace),
    }));
    return renderDocument(keysPage(signedIn, { ...read, now: deps.clock.now(), ...extras }));
  };

  router.get(
    '/keys',
    async (request, response) =>
      void response
        .type('html')
        .send(await show(signedInOf(response), { notice: request.query.notice })),
  );

  router.get('/keys/live/api-keys', async (_request, response) => {
    const signedIn = signedInOf(response);
    response
      .type('html')
      .send(
        render(
          apiKeysList(signedIn, await listApiKeys(deps, signedIn.workspace), deps.clock.now()),
        ),
      );
  });

  router.get('/keys/live/subscriptions', async (_request, response) => {
    const all = await listSubscriptionHealth(deps, signedInOf(response).workspace);
    response.type('html').send(render(subscriptionsList(all, deps.clock.now())));
  });

  router.post('/keys', async (request, response) => {
    const signedIn = signedInOf(response);
    const values = formValues(request.body);
    const form = parseForm(newKeySchema, values);
    if (!form.ok)
      return void response
        .status(400)
        .type('html')
        .send(await show(signedIn, { keyForm: { values, problems: form.problems } }));
    const wanted = { name: form.data.name.trim(), createdBy: signedIn.member.name };
    let made: Awaited<ReturnType<typeof createApiKey>>;
    try {
      made = await createApiKey(deps, signedIn.workspace, wanted);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return void response
        .status(error.status)
        .type('html')
        .send(await show(signedIn, { keyForm: { values, problems: { name: error.message } } }));
    }
    const { key, apiKey } = made;
    response
      .status(201)
      .type('html')
      .send(await show(signedIn, { once: newKeyView(key, apiKey, publicUrl()) }));
  });

  router.post('/keys/:id/revoke', async (request, response) => {
    await revokeApiKey(deps, signedInOf(response).workspace, request.params.id);
    response.redirect(303, '/keys?notice=revoked');
  });

  router.post('/keys/subscriptions', async (request, response) => {
    const signedIn = signedInOf(response);
    const values = formValues(request.body);
    const form = parseForm(newSubscriptionSchema, values);
    if (!form.ok)
      return void response
        .status(400)
        .type('html')
        .send(await show(signedIn, { subscriptionForm: { values, problems: form.problems } }));
    try {
      const { subscription, secret } = await createSubscription(
        deps,
        signedIn.workspace,
        form.data,
      );
      response
        .status(201)
        .type('html')
        .send(await show(signedIn, { once: newSubscriptionView(secret, subscription) }));
    } catch (error) {
      const { status, ...refusal } = refusalOf(error, form.data);
      response
        .status(status)
        .type('html')
        .send(await show(signedIn, { subscriptionForm: { values, ...refusal } }));
    }
  });

  // A page that answered a POST keeps its address: loading it again leads back to the screen.
  router.get(['/keys/subscriptions', '/keys/:id/revoke'], (_request, response) =>
    response.redirect(303, '/keys'),
  );

  router.use(subscriptionRouter(deps));
  return router;
}
