import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { newestFirst, type PageRequest } from '../../platform/http/page.ts';
import { MAX_TOOLS, type Tool } from '../tool.ts';
import type { ToolCall } from '../calls/toolCall.ts';
import type { Workspace } from '../../team/index.ts';
import { isCallGone } from './toolCalls.ts';

/**
 * Loads a tool and locks it until the transaction ends. @throws not_found (404), also for another
 * workspace's tool
 */
export const loadTool = async (tx: Tx, workspace: Workspace, id: string): Promise<Tool> =>
  ofWorkspace(await tx.tools.get(id), workspace, id);

/** Loads a tool without a lock. @throws not_found (404), also for another workspace's tool */
export const peekTool = async (tx: Tx, workspace: Workspace, id: string): Promise<Tool> =>
  ofWorkspace(await tx.tools.peek(id), workspace, id);

function ofWorkspace(found: Tool | null, workspace: Workspace, id: string): Tool {
  if (found?.workspaceId !== workspace.id) throw notFound('tool', id);
  return found;
}

/** The tools that the agent may call. */
export const findLiveTools = (tx: Tx, workspaceId: string): Promise<readonly Tool[]> =>
  tx.tools.find({ where: { workspaceId, status: 'live' }, limit: MAX_TOOLS });

/** @throws not_found (404) */
export const getTool = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction((tx) => peekTool(tx, workspace, id));

/** The workspace's tools, newest first. */
export const listTools = (
  { store }: Deps,
  workspace: Workspace,
  filter: Partial<Pick<Tool, 'name' | 'status'>>,
  page: PageRequest,
) =>
  store.transaction((tx) => newestFirst(tx.tools, { workspaceId: workspace.id, ...filter }, page));

/** Whether the agent is on. */
export const isAgentOn = ({ store, reactions }: Deps, workspace: Workspace) =>
  store.transaction((tx) => reactions.isAgentOn(tx, workspace.id));

export interface ToolWithLastCall {
  readonly tool: Tool;
  /** The newest call, whether a test or the agent's; null when there is none yet. */
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

const RECENT_CALLS = 20;

export interface ToolInDetail {
  readonly tool: Tool;
  /** Newest first, without those of forgotten contacts. */
  readonly calls: readonly ToolCall[];
  /** The call that was asked for by its id; null when none was. */
  readonly shown: ToolCall | null;
  readonly isAgentOn: boolean;
}

/**
 * Reads a tool with its recent calls.
 * @param callId a call of the tool to read as well; null for none
 * @throws not_found (404), also for another workspace's tool, and for a call of another tool or of a
 * forgotten contact
 */
export const readTool = (
  { store, reactions }: Deps,
  workspace: Workspace,
  id: string,
  callId: string | null,
) =>
  store.transaction(async (tx): Promise<ToolInDetail> => {
    const tool = await peekTool(tx, workspace, id);
    const newest = await tx.toolCalls.find({
      where: { toolId: id },
      direction: 'desc',
      limit: RECENT_CALLS,
    });
    const calls: ToolCall[] = [];
    for (const call of newest) if (!(await isCallGone(tx, call))) calls.push(call);
    const shown = callId === null ? null : await peekCallOf(tx, tool, callId);
    const isAgentOn = await reactions.isAgentOn(tx, workspace.id);
    return { tool, calls, shown, isAgentOn };
  });

/** @throws not_found (404), also when the contact was forgotten */
async function peekCallOf(tx: Tx, tool: Tool, callId: string): Promise<ToolCall> {
  const call = await tx.toolCalls.peek(callId);
  if (call?.toolId !== tool.id || (await isCallGone(tx, call)))
    throw notFound('call of this tool', callId);
  return call;
}
