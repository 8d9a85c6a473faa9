import type { Deps } from '../domain/deps.ts';
import { lockToolCall } from '../domain/operations/loadToolCall.ts';
import { enqueueToolCall } from '../domain/operations/settleToolCall.ts';
import { recordToolAttempt, type ToolAttemptResult } from '../domain/toolCall.ts';
import { endToolCall } from './endToolCall.ts';

/**
 * Writes what an attempt came to, in one transaction: the next attempt's time, or the end of the call
 * and what follows from it.
 */
export const recordToolResult = (deps: Deps, id: string, result: ToolAttemptResult, retryDelaysMs: readonly number[]) =>
  deps.store.transaction(async (tx): Promise<void> => {
    const now = deps.clock.now();
    const before = await lockToolCall(tx, id);
    if (!before?.isUnderWay) return;
    const { call, nextAttemptAt } = recordToolAttempt(before, result, retryDelaysMs, now);
    if (nextAttemptAt === null) return endToolCall(tx, deps, before, call, now);
    await tx.toolCalls.put(call);
    await enqueueToolCall(tx, call, nextAttemptAt);
  });
