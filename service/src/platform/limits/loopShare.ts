import { FairQueue } from './fairQueue.ts';

const MAX_PAUSE_MS = 1_000;

interface Task {
  readonly run: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Runs work that blocks the event loop: one task after another, each workspace in turn. A pause
 * follows each task, as long as the task took, but a second at most. So this work takes at most
 * half of the process's time (more only if a task takes longer than a second), and a request waits
 * for one task at most. Each task must bound its own length.
 * @see docs/decisions/0030-text-costs-what-its-length-costs.md
 */
export class LoopShare {
  readonly #waiting = new FairQueue<Task>();
  #isRunning = false;

  /**
   * Runs the task when its turn comes.
   * @param signal once aborted, the task no longer runs
   * @throws what the task throws, or the signal's reason
   */
  run<T>(workspaceId: string, task: () => T, signal?: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const run = () => {
      signal?.throwIfAborted();
      resolve(task());
    };
    this.#waiting.add(workspaceId, { run, reject });
    if (!this.#isRunning) void this.#runAll();
    return promise;
  }

  /** How many tasks of a workspace wait for their turn. */
  waitingOf(workspaceId: string): number {
    return this.#waiting.lengthOf(workspaceId);
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#waiting.takeNext(); next !== undefined; next = this.#waiting.takeNext()) {
      const startedAt = performance.now();
      try {
        next.run();
      } catch (error) {
        next.reject(error);
      }
      await pause(performance.now() - startedAt);
    }
    this.#isRunning = false;
  }
}

/** A process has one event loop. */
export const loopShare = new LoopShare();

/** Lasts at least one whole round of the loop. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms < 1) setImmediate(resolve);
    else setTimeout(resolve, Math.min(ms, MAX_PAUSE_MS));
  });
