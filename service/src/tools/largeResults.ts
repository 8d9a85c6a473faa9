import type { Deps } from '../domain/deps.ts';
import { boundResults, lengthOf } from '../domain/operations/boundResults.ts';
import { MAX_LARGE_RESULTS_CHARACTERS, type ToolCall } from '../domain/toolCall.ts';

/**
 * What stays when some have to go: the next look is not due before the difference has been stored
 * again.
 */
const LEFT_OF_LARGE_RESULTS = MAX_LARGE_RESULTS_CHARACTERS - 6 * 1024 * 1024;

/**
 * Keeps the large results of a store within their bound. All of them have to be read for that, up
 * to 48 MB, so that it is done only when there may be too many: one workspace's large results held
 * up everybody else. Each of several workers counts what it stores itself, and may be beyond the
 * bound by the 6 MiB between.
 */
export class LargeResults {
  /** Characters that may come before the next look; none is known before the first. */
  #room = 0;
  #stored = 0;

  /** A call has ended with a large result, which is stored. */
  async add(
    { store, bounds }: Pick<Deps, 'store' | 'bounds'>,
    call: Pick<ToolCall, 'resultJson'>,
  ): Promise<void> {
    this.#stored += lengthOf(call);
    this.#room -= lengthOf(call);
    if (this.#room >= 0) return;
    const storedBefore = this.#stored;
    const { cut, total } = await store.transaction((tx) => boundResults(tx, LEFT_OF_LARGE_RESULTS));
    this.#room = MAX_LARGE_RESULTS_CHARACTERS - total - (this.#stored - storedBefore);
    if (cut > 0) bounds.reached('workspace_results');
  }
}
