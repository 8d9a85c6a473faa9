import { Router } from 'express';
import { definedOnly } from '../platform/json.ts';
import { inOneTransaction, type Deps } from '../platform/deps.ts';
import { findAgentSettings, updateAgentSettings } from './operations/settings.ts';
import * as contract from './contract.ts';
import { serve } from '../platform/http/serve.ts';
import { agentJson, type NamedModel } from './views.ts';

/** Serves the agent's settings. @param model what decides while no workflow does */
export function agentRouter(deps: Deps, model: NamedModel): Router {
  const router = Router();

  serve(router, deps, contract.getAgent, async ({ deps, caller: { workspace } }) =>
    deps.store.transaction(async (tx) =>
      agentJson(
        workspace,
        await findAgentSettings(tx, workspace.id),
        await tx.agentWebhooks.peek(workspace.id),
        model,
      ),
    ),
  );

  serve(router, deps, contract.updateAgent, async ({ deps, caller: { workspace }, body }) => {
    const {
      payment_links: paymentLinks,
      handover_phrases: handoverPhrases,
      use_webhook: usesWebhook,
      ...others
    } = body;
    const changes = definedOnly({ ...others, paymentLinks, handoverPhrases, usesWebhook });
    return inOneTransaction(deps, async (within, tx) =>
      agentJson(
        workspace,
        await updateAgentSettings(within, workspace, changes),
        await tx.agentWebhooks.peek(workspace.id),
        model,
      ),
    );
  });

  return router;
}
