import { Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { ownerFrom } from '../../platform/http/ownerView.ts';
import { serve } from '../../platform/http/serve.ts';
import { publishWebhook, unpublishWebhook } from './operations/publishWebhook.ts';
import { listenForTest, stopListening } from './operations/testWebhook.ts';
import * as contract from './publishingContract.ts';
import { publishedWebhookJson } from './publishingViews.ts';

/** A workflow becomes the agent, gives it up, and listens for a test event. */
export function agentWebhookRouter(deps: Deps): Router {
  const router = Router();

  serve(router, deps, contract.publishWebhook, async ({ deps, caller, body }) => {
    const published = await publishWebhook(deps, caller.workspace, {
      endpoint: body.endpoint,
      timeoutSeconds: body.timeout,
      owner: { ...ownerFrom(body.owner), workflowName: body.owner.workflow_name },
      secretHash: body.secret_hash ?? null,
      takeOver: body.take_over,
      turnOn: body.turn_on,
    });
    return publishedWebhookJson(published);
  });

  serve(router, deps, contract.unpublishWebhook, async ({ deps, caller, query }) => {
    const { revision, endpoint, ...owner } = query;
    const unpublishing = { owner: ownerFrom(owner), revision, endpoint };
    return { removed: await unpublishWebhook(deps, caller.workspace, unpublishing) };
  });

  serve(router, deps, contract.listenForTest, async ({ deps, caller, body }) => {
    const owner = { ...ownerFrom(body.owner), workflowName: body.owner.workflow_name };
    const { endpoint } = body;
    const { secret, listening } = await listenForTest(deps, caller.workspace, { endpoint, owner });
    return { secret, expires_at: listening.expiresAt };
  });

  serve(router, deps, contract.stopListening, async ({ deps, caller, query }) => {
    const { endpoint, ...owner } = query;
    const stopping = { owner: ownerFrom(owner), endpoint };
    return { removed: await stopListening(deps, caller.workspace, stopping) };
  });

  return router;
}
