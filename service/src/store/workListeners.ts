import type { Logger, StoreClock } from './clockAndLog.ts';

interface WorkListener {
  readonly call: () => void;
  /** Undefined: every queue. */
  readonly queue: string | undefined;
}

/** Callbacks for when a queue has work. */
export class WorkListeners {
  readonly #listeners = new Set<WorkListener>();
  readonly #log: Logger;

  /** @param clock when it is moved, jobs may have become due */
  constructor(log: Logger, clock: StoreClock) {
    this.#log = log;
    clock.onMoved?.(() => this.notify());
  }

  /** @returns a function that stops listening; it returns false when it was called before */
  add(call: () => void, queue?: string): () => boolean {
    // A new object, so that the same function can be added twice.
    const listener = { call, queue };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listensTo(queue: string): boolean {
    return [...this.#listeners].some((each) => each.queue === undefined || each.queue === queue);
  }

  /** @param queues those with work. Default: every queue may have some. */
  notify(queues?: ReadonlySet<string>): void {
    for (const { call, queue } of this.#listeners) {
      if (queue !== undefined && queues !== undefined && !queues.has(queue)) continue;
      try {
        call();
      } catch (error) {
        this.#log.error(`a work listener failed: ${(error as Error)?.message ?? String(error)}`);
      }
    }
  }
}
