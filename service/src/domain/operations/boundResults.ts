import type { Tx } from '../collections.ts';
import { LARGE_RESULT, LARGE_RESULTS_MOST, dropResult, type ToolCall } from '../toolCall.ts';

/** More large results than this cannot stay below the figure. */
const MOST_LARGE = Math.ceil(LARGE_RESULTS_MOST / LARGE_RESULT) + 1;

export const lengthOf = ({ resultJson }: Pick<ToolCall, 'resultJson'>): number =>
  resultJson?.length ?? 0;

/** What a workspace has stored, the newest first. */
class Stored {
  readonly calls: ToolCall[] = [];
  length = 0;

  add(call: ToolCall): void {
    this.calls.push(call);
    this.length += lengthOf(call);
  }

  takeOldest(): ToolCall {
    const oldest = this.calls.pop()!;
    this.length -= lengthOf(oldest);
    return oldest;
  }
}

/**
 * Keeps the large results together below `LARGE_RESULTS_MOST`. The oldest of the workspace that has
 * stored the most make room: one may fill all of it while no other needs any, and none is cut for
 * another's sake before it has as much as that one.
 * @param left when some have to go, so many that no more than this stays
 * @returns how many were cut, and the characters of those that stay
 */
export async function boundResults(
  tx: Tx,
  left = LARGE_RESULTS_MOST,
): Promise<{ readonly cut: number; readonly total: number }> {
  const large = await tx.toolCalls.find({
    where: { hasLargeResult: true },
    direction: 'desc',
    limit: MOST_LARGE,
  });
  const byWorkspace = new Map<string, Stored>();
  for (const call of large) {
    const stored = byWorkspace.get(call.workspaceId) ?? new Stored();
    byWorkspace.set(call.workspaceId, stored);
    stored.add(call);
  }
  let total = large.reduce((sum, call) => sum + lengthOf(call), 0);
  let cut = 0;
  for (
    const most = total > LARGE_RESULTS_MOST ? left : LARGE_RESULTS_MOST;
    total > most;
    cut += 1
  ) {
    const largest = [...byWorkspace.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const oldest = largest.takeOldest();
    total -= lengthOf(oldest);
    await tx.toolCalls.put(dropResult(oldest));
  }
  return { cut, total };
}
