import { Semaphore } from '../../platform/async/semaphore.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import {
  dropResult,
  LARGE_RESULT_CHARACTERS,
  MAX_LARGE_RESULTS_CHARACTERS,
  type ToolCall,
} from './toolCall.ts';

/** More large results than this cannot stay within the bound. */
const MAX_LARGE_RESULTS = Math.ceil(MAX_LARGE_RESULTS_CHARACTERS / LARGE_RESULT_CHARACTERS) + 1;
/** How much stays when results are dropped. The room below the bound delays the next check. */
const CHARACTERS_AFTER_DROP = MAX_LARGE_RESULTS_CHARACTERS - 6 * 1024 * 1024;

/**
 * Keeps the large results of a store within their bound. A check reads all of them, about 48 MiB, so
 * it is made only when there may be too many, and one at a time. Each process counts only what it
 * stores itself: several of them can exceed the bound together until one of them checks.
 */
export class LargeResults {
  readonly #checks = new Semaphore(1);
  /** Characters that may still be stored before the next check; 0 so that the first call checks. */
  #room = 0;
  #stored = 0;

  /** @param call completed with a large result, which is stored */
  async add(
    { store, bounds }: Pick<Deps, 'store' | 'bounds'>,
    call: Pick<ToolCall, 'resultJson'>,
  ): Promise<void> {
    this.#stored += lengthOf(call);
    this.#room -= lengthOf(call);
    if (this.#room >= 0) return;
    await this.#checks.run(async () => {
      if (this.#room >= 0) return; // another check has counted this call too
      const storedBefore = this.#stored; // others add while the check runs
      const { dropped, total } = await store.transaction((tx) =>
        boundResults(tx, CHARACTERS_AFTER_DROP),
      );
      this.#room = MAX_LARGE_RESULTS_CHARACTERS - total - (this.#stored - storedBefore);
      if (dropped > 0) bounds.reached('workspace_results');
    });
  }
}

/**
 * Keeps all large results together within `MAX_LARGE_RESULTS_CHARACTERS`: drops the oldest of the
 * workspace whose results take the most room. One workspace may use all the room while no other needs any.
 * @param keep how many characters stay when some results are dropped
 * @returns how many results were dropped, and the characters of those that stay
 */
export async function boundResults(
  tx: Tx,
  keep = MAX_LARGE_RESULTS_CHARACTERS,
): Promise<{ readonly dropped: number; readonly total: number }> {
  const newestFirst = await tx.toolCalls.find({
    where: { hasLargeResult: true },
    direction: 'desc',
    limit: MAX_LARGE_RESULTS,
  });
  const workspaces = [...Map.groupBy(newestFirst, ({ workspaceId }) => workspaceId).values()].map(
    (calls) => ({ calls, characters: charactersOf(calls) }),
  );
  let total = charactersOf(newestFirst);
  let dropped = 0;
  if (total <= MAX_LARGE_RESULTS_CHARACTERS) return { dropped, total };
  while (total > keep) {
    const largest = workspaces.reduce((a, b) => (b.characters > a.characters ? b : a));
    const oldest = largest.calls.pop()!;
    largest.characters -= lengthOf(oldest);
    total -= lengthOf(oldest);
    dropped += 1;
    await tx.toolCalls.put(dropResult(oldest));
  }
  return { dropped, total };
}

const lengthOf = ({ resultJson }: Pick<ToolCall, 'resultJson'>): number => resultJson?.length ?? 0;

const charactersOf = (calls: readonly ToolCall[]): number =>
  calls.reduce((sum, call) => sum + lengthOf(call), 0);
