import type { Deps } from '../deps.ts';
import { notFound } from '../errorCatalogue.ts';
import type { Tool } from '../tool.ts';
import type { ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { peekTool } from './loadTool.ts';

const RECENT_CALLS = 20;

export interface ToolInDetail {
  readonly tool: Tool;
  /** Newest first. */
  readonly calls: readonly ToolCall[];
  /** The call that was asked for; null when none was. */
  readonly shown: ToolCall | null;
}

/**
 * A tool with its recent calls and, if asked for, one of its calls.
 * @throws not_found (404), also for another workspace's tool, or a call of another one
 */
export const readTool = (
  { store }: Deps,
  workspace: Workspace,
  id: string,
  callId: string | null,
) =>
  store.transaction(async (tx): Promise<ToolInDetail> => {
    const tool = await peekTool(tx, workspace, id);
    const calls = await tx.toolCalls.find({
      where: { toolId: id },
      direction: 'desc',
      limit: RECENT_CALLS,
    });
    const shown = callId === null ? null : await tx.toolCalls.peek(callId);
    if (callId !== null && shown?.toolId !== id) throw notFound('call of this tool', callId);
    return { tool, calls, shown };
  });
