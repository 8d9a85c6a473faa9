import { Router } from 'express';
import type { Deps } from '../platform/deps.ts';
import { serve } from '../platform/http/serve.ts';
import type { Tx } from '../store/collections.ts';
import type { Workspace } from '../team/index.ts';
import type { AgentSettings } from './agentSettings.ts';
import * as contract from './contract.ts';
import { changeAgentSettings, findAgentSettings } from './operations/settings.ts';
import { agentJson, changesFrom, type NamedModel } from './views.ts';

/** Serves the agent's settings. @param model what decides while no workflow does */
export function agentRouter(deps: Deps, model: NamedModel): Router {
  const router = Router();
  const show = async (tx: Tx, workspace: Workspace, settings: AgentSettings) =>
    agentJson(workspace, settings, await tx.agentWebhooks.peek(workspace.id), model);

  serve(router, deps, contract.getAgent, async ({ deps, caller: { workspace } }) =>
    deps.store.transaction(async (tx) =>
      show(tx, workspace, await findAgentSettings(tx, workspace.id)),
    ),
  );

  serve(router, deps, contract.updateAgent, async ({ deps, caller: { workspace }, body }) =>
    deps.store.transaction(async (tx) =>
      show(tx, workspace, await changeAgentSettings(tx, deps, workspace, changesFrom(body))),
    ),
  );

  return router;
}
