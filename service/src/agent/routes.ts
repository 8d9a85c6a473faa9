import { Router } from 'express';
import { isEnabled, paymentLinkPolicyOf, type AgentSettings } from './agentSettings.ts';
import { definedOnly } from '../platform/json.ts';
import type { Deps } from '../platform/deps.ts';

import { updateAgentSettings, findAgentSettings } from './operations/settings.ts';
import type { Workspace } from '../team/index.ts';
import * as contract from './contract.ts';
import { serve } from '../platform/http/serve.ts';

/**
 * Serves the agent's settings.
 * @param modelName what the agent answers with: `keyword`, or the name of the configured model
 */
export function agentRouter(deps: Deps, modelName: string): Router {
  const router = Router();
  const agentJson = (
    workspace: Workspace,
    { name, greeting, instructions, languages, updatedAt, ...settings }: AgentSettings,
  ) => ({
    id: workspace.agentId,
    name,
    greeting,
    instructions,
    languages: [...languages],
    enabled: isEnabled(settings),
    payment_links: paymentLinkPolicyOf(settings),
    handover_phrases: [...(settings.handoverPhrases ?? [])],
    model: modelName,
    updated_at: updatedAt === '' ? null : updatedAt,
  });

  serve(router, deps, contract.getAgent, async ({ deps, caller }) =>
    agentJson(
      caller.workspace,
      await deps.store.transaction((tx) => findAgentSettings(tx, caller.workspace.id)),
    ),
  );

  serve(
    router,
    deps,
    contract.updateAgent,
    async ({
      deps,
      caller,
      body: { payment_links: paymentLinks, handover_phrases: handoverPhrases, ...others },
    }) =>
      agentJson(
        caller.workspace,
        await updateAgentSettings(
          deps,
          caller.workspace,
          definedOnly({ ...others, paymentLinks, handoverPhrases }),
        ),
      ),
  );

  return router;
}
