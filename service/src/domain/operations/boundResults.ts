import type { Tx } from '../collections.ts';
import { LARGE_RESULT, LARGE_RESULTS_MOST, dropResult } from '../toolCall.ts';

/** More large results than this cannot stay below the figure. */
const MOST_LARGE = Math.ceil(LARGE_RESULTS_MOST / LARGE_RESULT) + 1;

/** Keeps the large results together below `LARGE_RESULTS_MOST`: the oldest make room. */
export async function boundResults(tx: Tx): Promise<void> {
  const large = await tx.toolCalls.find({ where: { hasLargeResult: true }, direction: 'desc', limit: MOST_LARGE });
  let total = 0;
  for (const call of large) {
    total += call.resultJson?.length ?? 0;
    if (total > LARGE_RESULTS_MOST) await tx.toolCalls.put(dropResult(call));
  }
}
