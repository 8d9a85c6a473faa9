/** Nothing rests longer than this, however long it worked. */
const MAX_REST_MS = 1_000;

/**
 * A share of the event loop for work that holds it: one piece after another, and after each the loop is
 * left to requests for as long as the piece took. So all such work together takes at most half of the
 * process, and a request waits for one piece of it. How long a piece is, its own bounds say.
 * @see docs/decisions/0038
 */
export class LoopShare {
  /** Ends when the loop may be held again. */
  #free: Promise<void> = Promise.resolve();

  /**
   * Does the work when its turn comes.
   * @param signal when it is aborted by then, the work is not begun
   * @throws what the work throws, or the signal's reason
   */
  run<T>(work: () => T, signal?: AbortSignal): Promise<T> {
    const done = this.#free.then(() => measured(work, signal));
    this.#free = done.then(({ tookMs }) => rest(tookMs));
    return done.then(({ result }) => result());
  }
}

/** The result as a function that throws what the work has thrown: the next piece has to wait for its end in any case. */
function measured<T>(work: () => T, signal: AbortSignal | undefined): { tookMs: number; result: () => T } {
  const began = performance.now();
  const ended = (result: () => T) => ({ tookMs: performance.now() - began, result });
  try {
    signal?.throwIfAborted();
    const value = work();
    return ended(() => value);
  } catch (error) {
    return ended(() => {
      throw error;
    });
  }
}

/** At least one whole round of the loop. */
const rest = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms < 1) setImmediate(resolve);
    else setTimeout(resolve, Math.min(ms, MAX_REST_MS));
  });
