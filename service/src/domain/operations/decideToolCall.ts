import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Actor } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { AppError, ERROR_CATALOGUE } from '../errorCatalogue.ts';
import { finish, type ToolCall } from '../toolCall.ts';
import type { Workspace } from '../workspace.ts';
import { loadToolCall, peekToolCall, viewToolCall, type ToolCallView } from './loadToolCall.ts';
import { countDecided, enqueueToolCall, settleToolCall } from './settleToolCall.ts';

/**
 * A person decides about a call that waits for approval; the first decision counts. An approved
 * call runs under its own id, and the decision and the work that follows from it are one write: it
 * cannot be lost. Of a rejected one the agent tells the customer.
 * @throws not_found (404), approval_already_decided (409), also when the wait has ended in another
 * way
 */
export const decideToolCall = (
  deps: Deps,
  workspace: Workspace,
  id: string,
  { approved, by, note }: { approved: boolean; by: Actor; note: string | null },
) =>
  deps.store.transaction(async (tx): Promise<ToolCallView> => {
    const now = deps.clock.now();
    const call = await loadToolCall(tx, workspace, id);
    assertWaiting(call, now);
    const decided: ToolCall = { ...call, decision: { approved, by, note, at: timestamp(now) } };
    if (approved) await approve(tx, decided, now);
    else await settleToolCall(tx, deps, call, finish(decided, 'rejected', now), now);
    return viewToolCall(tx, await peekToolCall(tx, workspace, id));
  });

async function approve(tx: Tx, call: ToolCall, now: Date): Promise<void> {
  const running: ToolCall = { ...call, status: 'running', expiresAt: null, isTold: false };
  await tx.toolCalls.put(running);
  await enqueueToolCall(tx, running, now.getTime());
  const conversation = await tx.conversations.get(call.conversationId!);
  if (conversation) await countDecided(tx, conversation);
}

function assertWaiting({ id, status, expiresAt, neededApproval }: ToolCall, now: Date): void {
  if (status === 'pending_approval' && expiresAt !== null && Date.parse(expiresAt) > now.getTime())
    return;
  const state = !neededApproval
    ? 'needs no approval'
    : status === 'pending_approval'
      ? 'has expired'
      : `is ${status} already`;
  throw new AppError(
    'approval_already_decided',
    `Tool call ${id} ${state}. ${ERROR_CATALOGUE.approval_already_decided.fix}`,
  );
}
