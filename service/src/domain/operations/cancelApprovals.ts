import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { complete, type ToolCall } from '../toolCall.ts';
import { completeToolCall } from './completeToolCall.ts';
import { lockToolCall } from './loadToolCall.ts';

const MAX_PENDING = 10_000;
const MAX_PENDING_IN_CONVERSATION = 1000;

/**
 * Cancels the calls of a tool that wait for approval, when the tool was edited, paused, removed or
 * forbidden. The agent tells the customers.
 * @param of a tool of the workspace by its id, or what is built in by its name
 */
export async function cancelApprovals(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  of: { readonly toolId: string } | { readonly workspaceId: string; readonly builtIn: string },
  now: Date,
): Promise<void> {
  const where = 'toolId' in of ? { toolId: of.toolId } : { workspaceId: of.workspaceId };
  const pending = await tx.toolCalls.find({
    where: { ...where, status: 'pending_approval' },
    limit: MAX_PENDING,
  });
  const concerned = 'toolId' in of ? pending : pending.filter(({ tool }) => tool === of.builtIn);
  for (const { id } of concerned.toSorted(byConversation)) {
    const call = await lockToolCall(tx, id);
    if (call?.status === 'pending_approval')
      await completeToolCall(tx, deps, call, complete(call, 'cancelled', now), now);
  }
}

/** All lock conversations in this order, so that no two wait for each other. */
const byConversation = (a: ToolCall, b: ToolCall): number =>
  (a.conversationId ?? '') < (b.conversationId ?? '') ? -1 : 1;

/**
 * Cancels what waits for approval in a conversation that somebody took over, handed back or closed.
 * @returns the conversation, which now waits for none
 */
export async function cancelApprovalsIn(
  tx: Tx,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> {
  if (conversation.pendingApprovals === 0) return conversation;
  const pending = await tx.toolCalls.find({
    where: { conversationId: conversation.id, status: 'pending_approval' },
    limit: MAX_PENDING_IN_CONVERSATION,
  });
  for (const call of pending) {
    await tx.jobs.complete(call.id);
    await tx.toolCalls.put({ ...complete(call, 'cancelled', now), isTold: true });
  }
  return { ...conversation, pendingApprovals: 0 };
}
