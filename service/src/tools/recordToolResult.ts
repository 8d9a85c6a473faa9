import { timestamp } from '../domain/clock.ts';
import type { Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { putLive } from '../domain/operations/goLiveWithTool.ts';
import { enqueueToolCall, settleToolCall } from '../domain/operations/settleToolCall.ts';
import { recordTest } from '../domain/tool.ts';
import { isFinished, recordToolAttempt, type ToolAttemptResult, type ToolCall } from '../domain/toolCall.ts';

/**
 * Writes what an attempt came to, in one transaction: the next attempt's time, or the end of the call
 * and what follows from it for the agent or, after a test, for the tool.
 */
export const recordToolResult = (deps: Deps, id: string, result: ToolAttemptResult, retryDelaysMs: readonly number[]) =>
  deps.store.transaction(async (tx): Promise<void> => {
    const now = deps.clock.now();
    const before = await tx.toolCalls.get(id);
    if (!before?.isUnderWay) return;
    const { call, nextAttemptAt } = recordToolAttempt(before, result, retryDelaysMs, now);
    if (nextAttemptAt !== null) {
      await tx.toolCalls.put(call);
      await enqueueToolCall(tx, call, nextAttemptAt);
      return;
    }
    await settleToolCall(tx, deps, before, call, now);
    if (call.purpose !== 'agent') await followTest(tx, call, now);
  });

async function followTest(tx: Tx, call: ToolCall, now: Date): Promise<void> {
  const tool = call.toolId === null ? null : await tx.tools.get(call.toolId);
  if (!tool || !isFinished(call)) return;
  const test = { toolCallId: call.id, succeeded: call.status === 'succeeded', error: call.error?.message ?? null, at: timestamp(now) };
  const tested = recordTest(tool, test, call.definitionHash, now);
  if (tested.status === 'live' && tool.status !== 'live') await putLive(tx, tested);
  else if (tested !== tool) await tx.tools.put(tested);
}
