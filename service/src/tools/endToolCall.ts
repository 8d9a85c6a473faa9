import { timestamp } from '../domain/clock.ts';
import type { Tx } from '../domain/collections.ts';
import type { Deps } from '../domain/deps.ts';
import { putLive } from '../domain/operations/goLiveWithTool.ts';
import { settleToolCall } from '../domain/operations/settleToolCall.ts';
import { recordTest } from '../domain/tool.ts';
import type { ToolCall } from '../domain/toolCall.ts';

/**
 * Saves a call that has ended, however it ended, and what follows from it: for the agent or, after
 * a test, for the tool.
 * @param before as it was stored
 */
export async function endToolCall(
  tx: Tx,
  deps: Pick<Deps, 'agent'>,
  before: ToolCall,
  ended: ToolCall,
  now: Date,
): Promise<void> {
  await settleToolCall(tx, deps, before, ended, now);
  if (ended.purpose !== 'agent') await followTest(tx, ended, now);
}

async function followTest(tx: Tx, call: ToolCall, now: Date): Promise<void> {
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
