import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE, notFound } from '../errorCatalogue.ts';
import { complete, type Decision, type ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { completeToolCall, dropApproval } from './completeToolCall.ts';
import { enqueueToolCall } from './enqueueToolCall.ts';
import { loadToolCall, peekToolCall, viewToolCall, type ToolCallView } from './loadToolCall.ts';

/**
 * A person decides about a call that waits for approval; the first decision counts. An approved
 * call runs under its own id. The decision and the work that follows from it are one write, so that
 * neither is lost. When a call is rejected, the agent tells the customer.
 * @param conversationId the conversation that shows the call; undefined: any
 * @throws not_found (404), approval_already_decided (409), also when the call is complete in another
 * way
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
  if (conversation) await dropApproval(tx, conversation);
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
  throw new AppError(
    'approval_already_decided',
    `Tool call ${id} ${state}. ${ERROR_CATALOGUE.approval_already_decided.fix}`,
  );
}
