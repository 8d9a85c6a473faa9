import type { Deps } from '../deps.ts';
import { pause, type Tool } from '../tool.ts';
import type { Workspace } from '../workspace.ts';
import { loadTool } from './loadTool.ts';
import { cancelApprovalsOfTool } from './settleToolCall.ts';

/**
 * The agent calls the tool no more; what waits for approval is cancelled. @throws not_found (404)
 */
export const pauseTool = (deps: Deps, workspace: Workspace, id: string) =>
  deps.store.transaction(async (tx): Promise<Tool> => {
    const now = deps.clock.now();
    const tool = await loadTool(tx, workspace, id);
    const paused = pause(tool, now);
    if (paused !== tool) await tx.tools.put(paused);
    if (paused.status !== 'live') await cancelApprovalsOfTool(tx, deps, id, now);
    return paused;
  });
