import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { pause, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { cancelApprovals } from './cancelApprovals.ts';
import { loadTool } from './loadTool.ts';

/**
 * Stops the agent from calling a tool, and cancels the calls that wait for approval.
 * @throws not_found (404)
 */
export const pauseTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx) => putPaused(tx, deps, await loadTool(tx, workspace, id)));

/** @param tool locked */
export async function putPaused(tx: Tx, deps: Deps, tool: Tool): Promise<Tool> {
  const now = deps.clock.now();
  const paused = pause(tool, now);
  if (paused !== tool) await tx.tools.put(paused);
  if (paused.status !== 'live') await cancelApprovals(tx, deps, { toolId: tool.id }, now);
  return paused;
}
