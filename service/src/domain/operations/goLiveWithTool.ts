import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import type { JsonObject } from '../json.ts';
import { goLive, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { loadAgentSettings } from './findAgentSettings.ts';
import { loadTool, peekTool } from './loadTool.ts';
import { checkTestArguments, putTestCall } from './startTestCall.ts';

/**
 * Lets the agent call a tool: at once when this definition was tested, else after a test call with
 * `args`, which is made afterwards.
 * @throws tool_not_tested (409) without a successful test and without arguments; invalid_request
 * (400), not_found (404)
 * @see spec section 3, effect 4; design section 3, Custom tools
 */
export async function goLiveWithTool(
  deps: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject | undefined,
): Promise<Tool> {
  const { store, clock } = deps;
  const isTested = (await store.transaction((tx) => peekTool(tx, workspace, id))).testedAt !== null;
  const checkedFor =
    isTested || args === undefined ? '' : await checkTestArguments(deps, workspace, id, args);
  return store.transaction(async (tx): Promise<Tool> => {
    const now = clock.now();
    const tool = await loadTool(tx, workspace, id);
    if (tool.testedAt !== null) return putLive(tx, goLive(tool, now));
    if (args === undefined)
      throw new AppError(
        'tool_not_tested',
        `No call of this definition has succeeded yet. ${ERROR_CATALOGUE.tool_not_tested.fix}`,
      );
    const call = await putTestCall(tx, tool, { args, checkedFor }, 'go_live', now);
    const awaiting = { ...tool, goLiveCallId: call.id };
    await tx.tools.put(awaiting);
    return awaiting;
  });
}

/**
 * Saves a tool that is live now. The first one of a workspace switches the agent on, unless someone
 * has decided about it.
 */
export async function putLive(tx: Tx, tool: Tool): Promise<Tool> {
  await tx.tools.put(tool);
  const settings = await loadAgentSettings(tx, tool.workspaceId);
  if (settings.enabled === null)
    await tx.agentSettings.put({ ...settings, enabled: true, updatedAt: tool.updatedAt });
  return tool;
}
