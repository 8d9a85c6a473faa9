import { timestamp } from '../../platform/clock.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Tx } from '../../store/collections.ts';
import type { Conversation } from '../../conversations/index.ts';
import type { Decision } from '../../platform/decision.ts';
import type { Deps } from '../../platform/deps.ts';
import { errorWithFix, notFound } from '../../platform/http/errorCatalogue.ts';
import { recordTest } from '../tool.ts';
import { complete, type ToolCall } from '../calls/toolCall.ts';
import { countToolCall } from '../counted.ts';
import { emitDecided } from '../calls/approval.ts';
import type { Workspace } from '../../team/index.ts';
import {
  enqueueToolCall,
  loadToolCall,
  peekToolCall,
  viewToolCall,
  lockToolCall,
  type ToolCallView,
} from './toolCalls.ts';

/**
 * Saves a completed call, however it ended. The agent then tells the customer, and a test is noted on
 * its tool. An agent that is no longer in control says nothing: the person who took over sees the
 * result in the thread. A customer who was promised word of an approval gets it at the hand-back.
 * @param before the call as it was stored
 */
export async function completeToolCall(
  tx: Tx,
  deps: Pick<Deps, 'reactions'>,
  before: ToolCall,
  completed: ToolCall,
  now: Date,
): Promise<void> {
  await tx.jobs.complete(completed.id);
  const isOwed = await askAgentToTell(tx, deps, before, completed, now);
  await tx.toolCalls.put({ ...completed, isTold: !isOwed });
  await countToolCall(tx, completed, now);
  if (completed.purpose !== 'agent') await noteTest(tx, completed, now);
}

/** @returns whether the customer is still owed word of how the call ended */
async function askAgentToTell(
  tx: Tx,
  { reactions }: Pick<Deps, 'reactions'>,
  { conversationId, status }: ToolCall,
  completed: ToolCall,
  now: Date,
): Promise<boolean> {
  const found = conversationId === null ? null : await tx.conversations.get(conversationId);
  if (!found) return false;
  const conversation =
    status === 'pending_approval' ? await endApproval(tx, found, completed, now) : found;
  const isPromised = completed.neededApproval && conversation.status === 'human_active';
  return (await reactions.onCallCompleted(tx, conversation, now)) || isPromised;
}

/** @param call as it is after the wait */
async function endApproval(
  tx: Tx,
  conversation: Conversation,
  call: ToolCall,
  now: Date,
): Promise<Conversation> {
  const pendingApprovals = Math.max(0, conversation.pendingApprovals - 1);
  const counted = { ...conversation, pendingApprovals, updatedAt: timestamp(now) };
  await tx.conversations.put(counted);
  await emitDecided(tx, call, counted, now);
  return counted;
}

async function noteTest(tx: Tx, call: ToolCall, now: Date): Promise<void> {
  const tool = call.toolId === null ? null : await tx.tools.get(call.toolId);
  if (!tool) return;
  const test = {
    toolCallId: call.id,
    succeeded: call.status === 'succeeded',
    error: call.error?.message ?? null,
    at: timestamp(now),
  };
  const tested = recordTest(tool, test, call.definitionHash, now);
  if (tested !== tool) await tx.tools.put(tested);
}

/**
 * Records a person's decision about a call that waits for approval. The first decision counts. An
 * approved call keeps its id. The decision and the work that follows are one write, so that neither is
 * lost. When a call is rejected, the agent tells the customer.
 * @param conversationId the conversation that shows the call; undefined: any
 * @throws not_found (404), also when the contact was forgotten
 * @throws approval_already_decided (409), also when the call expired or was cancelled
 */
export const decideToolCall = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  decision: Omit<Decision, 'at'>,
  conversationId?: string,
) =>
  deps.store.transaction(async (tx): Promise<ToolCallView> => {
    const now = deps.clock.now();
    const call = await loadToolCall(tx, workspace, id);
    if (conversationId !== undefined && call.conversationId !== conversationId)
      throw notFound('tool call', id);
    assertWaiting(call, now);
    const decided: ToolCall = { ...call, decision: { ...decision, at: timestamp(now) } };
    if (decision.approved) await approve(tx, decided, now);
    else await completeToolCall(tx, deps, call, complete(decided, 'rejected', now), now);
    return viewToolCall(tx, await peekToolCall(tx, workspace, id));
  });

async function approve(tx: Tx, call: ToolCall, now: Date): Promise<void> {
  const running: ToolCall = { ...call, status: 'running', expiresAt: null, isTold: false };
  await tx.toolCalls.put(running);
  await enqueueToolCall(tx, running, now.getTime());
  const conversation = await tx.conversations.get(call.conversationId!);
  if (conversation) await endApproval(tx, conversation, running, now);
}

function assertWaiting(call: ToolCall, now: Date): void {
  const { id, status, expiresAt } = call;
  const isPending = status === 'pending_approval';
  if (isPending && expiresAt !== null && Date.parse(expiresAt) > now.getTime()) return;
  const state = !call.neededApproval
    ? 'needs no approval'
    : isPending
      ? 'has expired'
      : `is ${status} already`;
  throw errorWithFix('approval_already_decided', `Tool call ${id} ${state}.`);
}

const MAX_PENDING = 10_000;
const MAX_PENDING_IN_CONVERSATION = 1000;

/**
 * Cancels the calls of a tool that wait for approval, when the tool was edited, paused, removed or
 * switched off. The agent tells the customers.
 * @param target a tool of the workspace by its id, or a built-in tool by its name
 */
export async function cancelApprovals(
  tx: Tx,
  deps: Pick<Deps, 'reactions'>,
  target: { readonly toolId: string } | { readonly workspaceId: string; readonly builtIn: string },
  now: Date,
): Promise<void> {
  const where =
    'toolId' in target ? { toolId: target.toolId } : { workspaceId: target.workspaceId };
  const pending = await tx.toolCalls.find({
    where: { ...where, status: 'pending_approval' },
    limit: MAX_PENDING,
  });
  const concerned =
    'toolId' in target ? pending : pending.filter(({ tool }) => tool === target.builtIn);
  for (const { id } of concerned.toSorted(byConversation)) {
    const call = await lockToolCall(tx, id);
    if (call?.status === 'pending_approval')
      await completeToolCall(tx, deps, call, complete(call, 'cancelled', now), now);
  }
}

/** Conversations are always locked in this order, so that no two transactions wait for each other. */
const byConversation = (a: ToolCall, b: ToolCall): number =>
  compareText(a.conversationId ?? '', b.conversationId ?? '');

/**
 * Cancels the calls that wait for approval in a conversation that was closed.
 * @returns the conversation without pending approvals
 */
export async function cancelApprovalsIn(
  tx: Tx,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> {
  if (conversation.pendingApprovals === 0) return conversation;
  const closed = { ...conversation, pendingApprovals: 0 };
  const pending = await tx.toolCalls.find({
    where: { conversationId: conversation.id, status: 'pending_approval' },
    limit: MAX_PENDING_IN_CONVERSATION,
  });
  for (const call of pending) {
    await tx.jobs.complete(call.id);
    const cancelled = complete(call, 'cancelled', now);
    await tx.toolCalls.put({ ...cancelled, isTold: true });
    await countToolCall(tx, cancelled, now);
    await emitDecided(tx, cancelled, closed, now);
  }
  return closed;
}
