import type { Tx } from '../collections.ts';
import {
  LARGE_RESULT_CHARACTERS,
  MAX_LARGE_RESULTS_CHARACTERS,
  dropResult,
  type ToolCall,
} from '../toolCall.ts';

/** More large results than this cannot stay below the figure. */
const MAX_LARGE_RESULTS = Math.ceil(MAX_LARGE_RESULTS_CHARACTERS / LARGE_RESULT_CHARACTERS) + 1;

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
 * Keeps the large results together below `MAX_LARGE_RESULTS_CHARACTERS`. The oldest of the workspace that has
 * stored the most make room: one may fill all of it while no other needs any, and none is cut for
 * another's sake before it has as much as that one.
 * @param left when some have to go, so many that no more than this stays
 * @returns how many were cut, and the characters of those that stay
 */
export async function boundResults(
  tx: Tx,
  left = MAX_LARGE_RESULTS_CHARACTERS,
): Promise<{ readonly cut: number; readonly total: number }> {
  const large = await tx.toolCalls.find({
    where: { hasLargeResult: true },
    direction: 'desc',
    limit: MAX_LARGE_RESULTS,
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
    const most = total > MAX_LARGE_RESULTS_CHARACTERS ? left : MAX_LARGE_RESULTS_CHARACTERS;
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
