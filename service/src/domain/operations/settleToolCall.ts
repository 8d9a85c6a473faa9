import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { TOOL_CALL_QUEUE, finish, type ToolCall } from '../toolCall.ts';
import { workGroup } from '../workGroup.ts';
import { lockToolCall } from './loadToolCall.ts';
import { wakeAgent } from './wakeAgent.ts';

/** What waits is decided or expires within days. */
const MAX_WAITING_CALLS = 10_000;

/**
 * Puts a call's next attempt, or the end of its wait for approval, into the work queue. Its job is
 * named after it.
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

/**
 * Saves a call that has ended, and asks the agent to tell how. When the agent is not in control any
 * more, nobody has to be told: whoever took over reads it in the record.
 * @param before as it was stored
 */
export async function settleToolCall(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  before: ToolCall,
  ended: ToolCall,
  now: Date,
): Promise<void> {
  await tx.jobs.complete(ended.id);
  const conversation =
    ended.conversationId === null ? null : await tx.conversations.get(ended.conversationId);
  if (!conversation) return tx.toolCalls.put({ ...ended, isTold: true });
  const counted =
    before.status === 'pending_approval' ? await countDecided(tx, conversation) : conversation;
  const willTell = await wakeAgent(tx, deps, counted, now.getTime(), true);
  await tx.toolCalls.put({ ...ended, isTold: !willTell });
}

/** One approval less to wait for. */
export async function countDecided(tx: Tx, conversation: Conversation): Promise<Conversation> {
  const counted = {
    ...conversation,
    pendingApprovals: Math.max(0, conversation.pendingApprovals - 1),
  };
  await tx.conversations.put(counted);
  return counted;
}

/**
 * Cancels what waits for approval in a conversation that somebody took, handed back or closed.
 * @returns the conversation, which now waits for none
 */
export async function cancelApprovalsOf(
  tx: Tx,
  conversation: Conversation,
  now: Date,
): Promise<Conversation> {
  if (conversation.pendingApprovals === 0) return conversation;
  const waiting = await tx.toolCalls.find({
    where: { conversationId: conversation.id, status: 'pending_approval' },
    limit: 1000,
  });
  for (const call of waiting) {
    await tx.jobs.complete(call.id);
    await tx.toolCalls.put({ ...finish(call, 'cancelled', now), isTold: true });
  }
  return { ...conversation, pendingApprovals: 0 };
}

/**
 * Cancels what waits for approval of something built in that the agent may not do any more; the
 * agent tells the customers.
 */
export async function cancelApprovalsOfBuiltIn(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  workspaceId: string,
  tool: string,
  now: Date,
): Promise<void> {
  const waiting = await tx.toolCalls.find({
    where: { workspaceId, status: 'pending_approval' },
    limit: MAX_WAITING_CALLS,
  });
  await cancelAll(
    tx,
    deps,
    waiting.filter((call) => call.tool === tool),
    now,
  );
}

/**
 * Cancels what waits for approval of a tool that was edited, paused or removed; the agent tells the
 * customers.
 */
export async function cancelApprovalsOfTool(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  toolId: string,
  now: Date,
): Promise<void> {
  await cancelAll(
    tx,
    deps,
    await tx.toolCalls.find({
      where: { toolId, status: 'pending_approval' },
      limit: MAX_WAITING_CALLS,
    }),
    now,
  );
}

/**
 * In the order of the conversations' ids: of two that cancel at once, neither waits for the other
 * in turn.
 */
async function cancelAll(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  waiting: readonly ToolCall[],
  now: Date,
): Promise<void> {
  const inOrder = waiting.toSorted((a, b) =>
    (a.conversationId ?? '') < (b.conversationId ?? '') ? -1 : 1,
  );
  for (const { id } of inOrder) {
    const call = await lockToolCall(tx, id);
    if (call?.status === 'pending_approval')
      await settleToolCall(tx, deps, call, finish(call, 'cancelled', now), now);
  }
}
