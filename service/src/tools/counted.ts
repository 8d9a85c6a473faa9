import { count } from '../platform/counting/count.ts';
import { durationBucket } from '../platform/counting/durations.ts';
import type { Tx } from '../store/collections.ts';
import { isBuiltIn, type ToolCall, type ToolCallStatus } from './calls/toolCall.ts';

/** What needs an approval: a tool call of the agent, or a workflow. */
type ApprovalSource = 'tool' | 'workflow';
export type ApprovalOutcome = 'requested' | 'approved' | 'rejected' | 'expired' | 'cancelled';

declare module '../platform/counting/count.ts' {
  interface Counted {
    /** The agent's calls that have ended; test calls are not counted. */
    tool_call: readonly [tool: string, status: ToolCallStatus];
    /** How long a call took, with all its attempts. A call without an attempt is not counted. */
    tool_time: readonly [tool: string, durationBucket: number];
    approval: readonly [source: ApprovalSource, outcome: ApprovalOutcome];
    /** From the request for an approval to a person's decision. */
    decision_time: readonly [source: ApprovalSource, durationBucket: number];
  }
}

/** Stands for every tool that does not exist, since the agent can make up any number of names. */
export const UNKNOWN_TOOL = '-';

/** Counts a call of the agent that has ended. */
export async function countToolCall(tx: Tx, call: ToolCall, now: Date): Promise<void> {
  const { workspaceId, purpose, toolId, status, attempts, durationMs } = call;
  if (purpose !== 'agent') return;
  const tool = toolId === null && !isBuiltIn(call) ? UNKNOWN_TOOL : call.tool;
  await count(tx, workspaceId, now, ['tool_call', [tool, status]]);
  if (attempts > 0)
    await count(tx, workspaceId, now, ['tool_time', [tool, durationBucket(durationMs)]]);
}

/** Counts the request for an approval, or its outcome. @param since when it was requested */
export async function countApproval(
  tx: Tx,
  { workspaceId, since }: { readonly workspaceId: string; readonly since: string },
  [source, outcome]: readonly [ApprovalSource, ApprovalOutcome],
  now: Date,
): Promise<void> {
  await count(tx, workspaceId, now, ['approval', [source, outcome]]);
  if (outcome !== 'approved' && outcome !== 'rejected') return;
  const bucket = durationBucket(now.getTime() - Date.parse(since));
  await count(tx, workspaceId, now, ['decision_time', [source, bucket]]);
}
