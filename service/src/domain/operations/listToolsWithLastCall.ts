import type { Deps } from '../deps.ts';
import { MAX_TOOLS, type Tool } from '../tool.ts';
import type { ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';

export interface ToolWithLastCall {
  readonly tool: Tool;
  /** The newest call, a test or the agent's; null when there was none yet. */
  readonly lastCall: ToolCall | null;
}

/** All of the workspace's tools, newest first, each with its newest call. */
export const listToolsWithLastCall = ({ store }: Deps, workspace: Workspace) =>
  store.transaction(async (tx): Promise<readonly ToolWithLastCall[]> => {
    const tools = await tx.tools.find({
      where: { workspaceId: workspace.id },
      direction: 'desc',
      limit: MAX_TOOLS,
    });
    const listed = [];
    for (const tool of tools) {
      const [lastCall = null] = await tx.toolCalls.find({
        where: { toolId: tool.id },
        direction: 'desc',
        limit: 1,
      });
      listed.push({ tool, lastCall });
    }
    return listed;
  });
