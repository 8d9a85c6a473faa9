import { WorkspaceLines } from './workspaceLines.ts';

/** Nothing rests longer than this, however long it worked. */
const MAX_REST_MS = 1_000;

interface Piece {
  readonly work: () => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * A share of the event loop for work that holds it: one piece after another, each workspace in
 * turn, and after each piece the loop is left to requests for as long as it took. So all such work
 * together takes at most half of the process, and a request waits for one piece of it. How long a
 * piece is, its own bounds say.
 * @see docs/decisions/0038
 */
export class LoopShare {
  readonly #waiting = new WorkspaceLines<Piece>();
  #isWorking = false;

  /**
   * Does the work when its turn comes.
   * @param of the workspace that it is done for
   * @param signal when it is aborted by then, the work is not begun
   * @throws what the work throws, or the signal's reason
   */
  run<T>(of: string, work: () => T, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const begin = () => {
      signal?.throwIfAborted();
      resolve(work());
    };
    this.#waiting.add(of, { work: begin, refuse: reject });
    if (!this.#isWorking) void this.#workOn();
    return promise;
  }

  /** Pieces of a workspace that have not begun. */
  waitingOf(workspaceId: string): number {
    return this.#waiting.lengthOf(workspaceId);
  }

  async #workOn(): Promise<void> {
    this.#isWorking = true;
    for (let next = this.#waiting.takeNext(); next !== undefined; next = this.#waiting.takeNext()) {
      const began = performance.now();
      try {
        next.work();
      } catch (error) {
        next.refuse(error);
      }
      await rest(performance.now() - began);
    }
    this.#isWorking = false;
  }
}

/** There is one event loop in a process. */
export const loopShare = new LoopShare();

/** At least one whole round of the loop. */
const rest = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms < 1) setImmediate(resolve);
    else setTimeout(resolve, Math.min(ms, MAX_REST_MS));
  });
