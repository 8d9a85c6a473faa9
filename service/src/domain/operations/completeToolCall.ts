import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import { recordTest } from '../tool.ts';
import type { ToolCall } from '../toolCall.ts';
import { putLive } from './goLiveWithTool.ts';
import { wakeAgent } from './wakeAgent.ts';

/**
 * Saves a completed call, however it ended, with what follows from it: the agent tells the customer,
 * and a test is noted on its tool. When the agent is no longer in control, it tells nothing: the
 * person who took over reads the result in the record.
 * @param before as it was stored
 */
export async function completeToolCall(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  before: ToolCall,
  completed: ToolCall,
  now: Date,
): Promise<void> {
  await tx.jobs.complete(completed.id);
  const willTell = await askAgentToTell(tx, deps, before, now);
  await tx.toolCalls.put({ ...completed, isTold: !willTell });
  if (completed.purpose !== 'agent') await noteTest(tx, completed, now);
}

async function askAgentToTell(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  { conversationId, status }: ToolCall,
  now: Date,
): Promise<boolean> {
  const found = conversationId === null ? null : await tx.conversations.get(conversationId);
  if (!found) return false;
  const conversation = status === 'pending_approval' ? await dropApproval(tx, found) : found;
  return wakeAgent(tx, deps, conversation, now.getTime(), true);
}

/** One approval fewer is pending. */
export async function dropApproval(tx: Tx, conversation: Conversation): Promise<Conversation> {
  const pendingApprovals = Math.max(0, conversation.pendingApprovals - 1);
  const counted = { ...conversation, pendingApprovals };
  await tx.conversations.put(counted);
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
  if (tested.status === 'live' && tool.status !== 'live') await putLive(tx, tested);
  else if (tested !== tool) await tx.tools.put(tested);
}
