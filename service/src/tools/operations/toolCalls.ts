import type { Tx } from '../../store/collections.ts';
import { findContactOf, isForgotten, type Contact } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { newestFirst, type Page, type PageRequest } from '../../platform/http/page.ts';
import { TOOL_CALL_QUEUE, type ToolCall } from '../calls/toolCall.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Workspace } from '../../team/index.ts';

export interface ToolCallView {
  readonly call: ToolCall;
  /** Whose details are masked when the call is shown; null for a test call. */
  readonly contact: Contact | null;
}

/** Loads a call without a lock. @throws not_found (404), also for another workspace's call */
export async function peekToolCall(tx: Tx, workspace: Workspace, id: string): Promise<ToolCall> {
  const call = await tx.toolCalls.peek(id);
  if (call?.workspaceId !== workspace.id) throw notFound('tool call', id);
  return call;
}

/**
 * Loads a call for a decision, locked as by `lockToolCall`. @throws not_found (404), also for another
 * workspace's call, and for one whose contact was forgotten
 */
export async function loadToolCall(tx: Tx, workspace: Workspace, id: string): Promise<ToolCall> {
  const call = await lockConversationThenCall(tx, await peekToolCall(tx, workspace, id));
  if (!call || (await isCallGone(tx, call))) throw notFound('tool call', id);
  return call;
}

/**
 * Locks a call so that it can be changed. Its conversation is locked before it, always in this order,
 * so that two changes cannot wait for each other.
 * @returns the call as it is once locked; null when there is none
 * @see docs/decisions/0033-the-order-of-locks.md
 */
export async function lockToolCall(tx: Tx, id: string): Promise<ToolCall | null> {
  const known = await tx.toolCalls.peek(id);
  return known && lockConversationThenCall(tx, known);
}

async function lockConversationThenCall(
  tx: Tx,
  { id, conversationId }: ToolCall,
): Promise<ToolCall | null> {
  if (conversationId !== null) await tx.conversations.get(conversationId);
  return tx.toolCalls.get(id);
}

/** Adds the contact whose details are masked when the call is shown. */
export const viewToolCall = async (tx: Tx, call: ToolCall): Promise<ToolCallView> => ({
  call,
  contact: await findContactOf(tx, call.conversationId),
});

/**
 * Whether the call's contact was forgotten, so that the call is about to be removed, or its
 * conversation was removed since the call was read. Nobody may see it then.
 */
const isGone = ({ call, contact }: ToolCallView): boolean =>
  contact === null ? call.conversationId !== null : isForgotten(contact);

/** As `isGone`. The contact of a locked call cannot be forgotten before the lock ends. */
export const isCallGone = async (tx: Tx, call: ToolCall): Promise<boolean> =>
  isGone(await viewToolCall(tx, call));

/** @throws not_found (404) */
export const getToolCall = ({ store }: Deps, workspace: Workspace, id: string) =>
  store.transaction(async (tx) => {
    const view = await viewToolCall(tx, await peekToolCall(tx, workspace, id));
    if (isGone(view)) throw notFound('tool call', id);
    return view;
  });

type ToolCallFilter = Partial<Pick<ToolCall, 'status' | 'tool' | 'conversationId'>>;

/** The workspace's tool calls, newest first. */
export const listToolCalls = (
  { store }: Deps,
  workspace: Workspace,
  filter: ToolCallFilter,
  page: PageRequest,
) =>
  store.transaction(async (tx): Promise<Page<ToolCallView>> => {
    const found = await newestFirst(tx.toolCalls, { workspaceId: workspace.id, ...filter }, page);
    const items: ToolCallView[] = [];
    for (const call of found.items) {
      const view = await viewToolCall(tx, call);
      if (!isGone(view)) items.push(view);
    }
    return { ...found, items };
  });

/**
 * Puts a call's next attempt, or the end of its wait for approval, into the work queue. The job has
 * the call's id.
 */
export const enqueueToolCall = (tx: Tx, call: ToolCall, runAt: number): Promise<void> =>
  tx.jobs.enqueue({
    id: call.id,
    queue: TOOL_CALL_QUEUE,
    group: workGroup(call.workspaceId, call.toolId ?? call.tool),
    runAt,
    rank: 0,
    data: {},
  });
