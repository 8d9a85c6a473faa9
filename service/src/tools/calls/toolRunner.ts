import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { completeToolCall } from '../operations/completeToolCall.ts';
import { endUnpublished } from '../operations/endUnpublished.ts';
import { lockToolCall, enqueueToolCall } from '../operations/toolCalls.ts';
import { MAX_TOOL_TIMEOUT_SECONDS } from '../tool.ts';
import {
  TOOL_CALL_QUEUE,
  recordToolAttempt,
  type ToolAttemptResult,
  type ToolCall,
} from './toolCall.ts';
import type { OutboundClient } from '../../platform/outbound/outboundClient.ts';
import type { Stoppable } from '../../platform/jobs/stopTogether.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
} from '../../platform/jobs/worker.ts';
import { AnswerReader } from './answerReader.ts';
import { attemptToolCall, maxAttemptMs } from './attemptToolCall.ts';
import { beginToolCall } from './beginToolCall.ts';
import { LargeResults } from './largeResults.ts';
import { envelopeOf } from './toolRequest.ts';

interface ToolRunnerOptions extends Work {
  readonly outbound: Pick<OutboundClient, 'request'>;
  /** Before the second and the third attempt, after a 5xx or a network error. */
  readonly retryDelaysMs: readonly number[];
}

/** Eight tools that hang can use up their workspace's limit, but no other workspace's. */
const MAX_PER_WORKSPACE = 128;
const MAX_PER_TOOL = 16;

/**
 * Makes the tool calls that are due: test calls, the agent's and approved ones. Each attempt is
 * recorded before it is sent, so that a crash never repeats a call that must not be made twice.
 * Cancels what waits for a tool that was unpublished and not published again.
 */
export function startToolRunner({
  deps,
  outbound,
  log,
  retryDelaysMs,
}: ToolRunnerOptions): Stoppable {
  const reader = new AnswerReader(deps.bounds, log);
  const largeResults = new LargeResults();

  const makeCall = async (id: string, { lease, signal, retry }: JobContext): Promise<void> => {
    const begun = await retry(() => beginToolCall(deps, id, lease));
    if (!begun) return;
    const { call, address, timeoutMs } = begun;
    const { workspaceId } = call;
    const context = { workspaceId, now: deps.clock.now(), timeoutMs, signal };
    const result = await attemptToolCall({ outbound, reader }, address, envelopeOf(call), context);
    const logFields = {
      tool_call: id,
      tool: call.tool,
      attempt: call.attempts,
      status: result.httpStatus,
      duration_ms: result.durationMs,
    };
    if (result.type === 'success') log.debug(logFields, 'tool call succeeded');
    else log.info({ ...logFields, reason: result.error.type }, 'tool call attempt failed');
    await retry(() => recordAttempt(deps, call, result, retryDelaysMs, largeResults));
  };

  const worker = startWorker({
    deps,
    log,
    queue: TOOL_CALL_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    freeInGroup: (_tool, underWay) => MAX_PER_TOOL - underWay,
    bound: 'workspace_tool_calls',
    leaseMs: maxAttemptMs(MAX_TOOL_TIMEOUT_SECONDS * 1000) + LEASE_MARGIN_MS,
    run: (job, context) =>
      job.data.unpublishedAt === undefined ? makeCall(job.id, context) : endUnpublished(deps, job),
    onFailure: {
      message: 'a tool call could not be made or recorded; it is claimed again',
      idField: 'tool_call',
    },
  });
  return {
    stop: async () => {
      await worker.stop();
      await reader.close();
    },
  };
}

/**
 * Records the result of an attempt in one transaction: the time of the next attempt, or the completed
 * call with all that follows from it. Records nothing when this process paused for longer than its
 * lease and another one has taken the call.
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
    recordIn(tx, deps, made, result, retryDelaysMs),
  );
  // In a transaction of its own, since making room changes calls of other conversations.
  if (recorded?.hasLargeResult) await largeResults.add(deps, recorded);
}

async function recordIn(
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
