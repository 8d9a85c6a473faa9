import { count } from '../platform/counting/count.ts';
import { durationBucket } from '../platform/counting/durations.ts';
import type { Tx } from '../store/collections.ts';
import { isBuiltIn, type ToolCall, type ToolCallStatus } from './calls/toolCall.ts';

/** Who asks for an approval: the agent, for a call of a tool, or a workflow. */
type ApprovalOf = 'tool' | 'workflow';
export type ApprovalOutcome = 'requested' | 'approved' | 'rejected' | 'expired' | 'cancelled';

declare module '../platform/counting/count.ts' {
  interface Counted {
    /** The agent's calls that have ended, without tests. */
    tool_call: readonly [tool: string, status: ToolCallStatus];
    /** The time of a call that was made, with all its attempts. */
    tool_time: readonly [tool: string, durationBucket: number];
    approval: readonly [of: ApprovalOf, outcome: ApprovalOutcome];
    /** From the question to a person's decision. */
    decision_time: readonly [of: ApprovalOf, durationBucket: number];
  }
}

/** Stands for every tool that does not exist. The agent can make up any number of names. */
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

/** Counts that an approval is asked for, or how it ended. @param since when it was asked for */
export async function countApproval(
  tx: Tx,
  { workspaceId, since }: { readonly workspaceId: string; readonly since: string },
  [of, outcome]: readonly [ApprovalOf, ApprovalOutcome],
  now: Date,
): Promise<void> {
  await count(tx, workspaceId, now, ['approval', [of, outcome]]);
  if (outcome !== 'approved' && outcome !== 'rejected') return;
  const bucket = durationBucket(now.getTime() - Date.parse(since));
  await count(tx, workspaceId, now, ['decision_time', [of, bucket]]);
}
