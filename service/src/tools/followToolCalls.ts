import type { Deps } from '../platform/deps.ts';
import { isComplete, type ToolCall } from './calls/toolCall.ts';
import type { Workspace } from '../team/index.ts';
import { FairPool } from '../platform/limits/fairPool.ts';
import type { FollowDocument } from '../platform/http/followDocuments.ts';
import { errorAtBound } from '../platform/http/server/errorAtBound.ts';

/**
 * How many test calls one workspace may wait for, if no other workspace waits for any. It is half of
 * the pool, and twice as many as the workspace can have under way.
 */
const MAX_TEST_CALLS = 256;
const RETRY_MS = 10_000;

/**
 * Begins a tool call and waits until it has ended.
 * @returns the call as it then is; unfinished when the time is over or the service stops
 * @throws rate_limited (429) when the workspace already waits for its share of calls; the call then
 * has not begun
 */
export type FollowToolCall = (
  workspace: Workspace,
  begin: () => Promise<ToolCall>,
  timeoutMs: number,
) => Promise<ToolCall>;

export function followToolCalls(
  follow: FollowDocument,
  { store, bounds }: Pick<Deps, 'store' | 'bounds'>,
): FollowToolCall {
  const places = new FairPool(2 * MAX_TEST_CALLS);
  const enter = ({ id }: Workspace) => {
    const leave = places.enter(id);
    if (leave) return leave;
    throw errorAtBound(
      bounds,
      'workspace_test_calls',
      'The workspace is waiting for too many test calls.',
      { retryAfterMs: RETRY_MS },
    );
  };
  return async (workspace, begin, timeoutMs) => {
    const leave = enter(workspace);
    try {
      const begun = await begin();
      const read = async () =>
        (await store.transaction((tx) => tx.toolCalls.peek(begun.id))) ?? begun;
      await follow(begun.id, async () => isComplete(await read()), timeoutMs);
      return await read();
    } finally {
      leave();
    }
  };
}
