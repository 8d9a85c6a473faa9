import type { ServiceStore } from '../store/collections.ts';
import type { Deps } from '../platform/deps.ts';
import { isComplete, type ToolCall } from './calls/toolCall.ts';
import type { Workspace } from '../team/index.ts';
import { FairPool } from '../platform/limits/fairPool.ts';
import { atBound } from '../platform/http/server/atBound.ts';

/**
 * Test calls that one workspace may wait for while no other workspace does: twice what it can have
 * under way. Each reads all changes of the store.
 */
const MAX_TEST_CALLS = 256;
const RETRY_MS = 10_000;

/**
 * Begins a tool call and waits until it has ended.
 * @returns the call as it then is; it has not ended when that took longer
 * @throws rate_limited (429) when the workspace already waits for its share of calls; the call then
 * has not begun
 */
export type FollowToolCall = (
  workspace: Workspace,
  begin: () => Promise<ToolCall>,
  timeoutMs: number,
) => Promise<ToolCall>;

/** @param stopping ends all waiting */
export const followToolCalls = (
  store: ServiceStore,
  { store: port, bounds }: Pick<Deps, 'store' | 'bounds'>,
  stopping: AbortSignal,
): FollowToolCall => {
  const places = new FairPool(2 * MAX_TEST_CALLS);
  const enter = ({ id }: Workspace) => {
    const leave = places.enter(id);
    if (leave) return leave;
    throw atBound(
      bounds,
      'workspace_test_calls',
      'The workspace is waiting for too many test calls.',
      { retryAfterMs: RETRY_MS },
    );
  };
  const follow = async (begin: () => Promise<ToolCall>, timeoutMs: number) => {
    const given = new AbortController();
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs), given.signal]);
    const changes = store.changes({ signal }); // reads from here on, so that the end of the call is not missed
    let call = await begin();
    const read = async () => (await port.transaction((tx) => tx.toolCalls.peek(call.id))) ?? call;
    try {
      for await (const change of changes) {
        if ('gap' in change) call = await read();
        else if (change.collection === 'toolCalls' && change.id === call.id && change.document)
          call = change.document as ToolCall;
        if (isComplete(call)) break;
      }
    } finally {
      given.abort();
    }
    return call;
  };
  return async (workspace, begin, timeoutMs) => {
    const leave = enter(workspace);
    return follow(begin, timeoutMs).finally(leave);
  };
};
