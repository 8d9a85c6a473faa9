import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import type { JsonObject } from '../json.ts';
import { goLive, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { loadAgentSettings } from './findAgentSettings.ts';
import { loadTool, peekTool } from './loadTool.ts';
import { checkTestArguments, putTestCall, type TestArguments } from './startTestCall.ts';

/**
 * Lets the agent call a tool: at once when this definition was tested, else after a test call with
 * `args`, which is made afterwards.
 * @throws tool_not_tested (409) without a successful test and without arguments; invalid_request
 * (400), not_found (404)
 */
export async function goLiveWithTool(
  deps: Deps,
  workspace: Workspace,
  id: string,
  args: JsonObject | undefined,
): Promise<Tool> {
  const { store, clock } = deps;
  const known = await store.transaction((tx) => peekTool(tx, workspace, id));
  const isTestNeeded = known.testedAt === null && args !== undefined;
  const checked = isTestNeeded ? await checkTestArguments(deps, workspace, known, args) : null;
  return store.transaction(async (tx): Promise<Tool> => {
    const now = clock.now();
    const tool = await loadTool(tx, workspace, id);
    if (tool.testedAt !== null) return putLive(tx, goLive(tool, now));
    if (args === undefined) {
      throw new AppError(
        'tool_not_tested',
        `No call of this definition has succeeded yet. ${ERROR_CATALOGUE.tool_not_tested.fix}`,
      );
    }
    return testThenGoLive(tx, tool, checked ?? { args, definitionHash: null }, now);
  });
}

/** Begins the test call after whose success the tool goes live. */
export async function testThenGoLive(
  tx: Tx,
  tool: Tool,
  args: TestArguments,
  now: Date,
): Promise<Tool> {
  const call = await putTestCall(tx, tool, args, 'go_live', now);
  const awaiting = { ...tool, goLiveCallId: call.id };
  await tx.tools.put(awaiting);
  return awaiting;
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
