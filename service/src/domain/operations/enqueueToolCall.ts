import type { Tx } from '../collections.ts';
import { TOOL_CALL_QUEUE, type ToolCall } from '../toolCall.ts';
import { workGroup } from '../workGroup.ts';

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
