import type { Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { lockToolCall } from '../domain/operations/loadToolCall.ts';
import { completeToolCall } from '../domain/operations/completeToolCall.ts';
import { enqueueToolCall } from '../domain/operations/enqueueToolCall.ts';
import { recordToolAttempt, type ToolAttemptResult, type ToolCall } from '../domain/toolCall.ts';
import type { LargeResults } from './largeResults.ts';

/**
 * Writes what an attempt came to, in one transaction: the next attempt's time, or the end of the
 * call and what follows from it. Nothing, when the call has moved on since: the process stood still
 * for longer than its lease, and another one has taken over.
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
  // By itself: calls of other conversations make room, and none of them is waited for above.
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
