import type { Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { lockToolCall, enqueueToolCall } from '../domain/operations/toolCalls.ts';
import { completeToolCall } from '../domain/operations/completeToolCall.ts';
import { recordToolAttempt, type ToolAttemptResult, type ToolCall } from '../domain/toolCall.ts';
import type { LargeResults } from './largeResults.ts';

/**
 * Records the result of an attempt in one transaction: the time of the next attempt, or the completed
 * call with what follows from it. Records nothing when another process has taken the call, because
 * this one stood still for longer than its lease.
 * @param made the call as it was sent, with the attempt's number
 */
export async function recordAttempt(
  deps: Deps,
  made: Pick<ToolCall, 'id' | 'attempts'>,
  result: ToolAttemptResult,
  retryDelaysMs: readonly number[],
  largeResults: LargeResults,
): Promise<void> {
  const recorded = await deps.store.transaction((tx) =>
    record(tx, deps, made, result, retryDelaysMs),
  );
  // In a transaction of its own, since calls of other conversations make room.
  if (recorded?.hasLargeResult) await largeResults.add(deps, recorded);
}

async function record(
  tx: Tx,
  deps: Deps,
  { id, attempts }: Pick<ToolCall, 'id' | 'attempts'>,
  result: ToolAttemptResult,
  retryDelaysMs: readonly number[],
): Promise<ToolCall | null> {
  const now = deps.clock.now();
  const before = await lockToolCall(tx, id);
  if (!before?.isUnderWay || before.attempts !== attempts) return null;
  const { call, nextAttemptAt } = recordToolAttempt(before, result, retryDelaysMs, now);
  if (nextAttemptAt === null) {
    await completeToolCall(tx, deps, before, call, now);
    return call;
  }
  await tx.toolCalls.put(call);
  await enqueueToolCall(tx, call, nextAttemptAt);
  return call;
}
