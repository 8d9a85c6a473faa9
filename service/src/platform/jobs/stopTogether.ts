import type { Logger } from 'pino';

export interface Stoppable {
  /** Starts no more work, and resolves when the work under way has ended. */
  stop(): Promise<void>;
}

/** Parts of the service that stop at the same time, within one limit. */
export class StopTogether {
  readonly #parts = new Map<string, Stoppable>();

  /** @param name for the log, if the part does not stop */
  add<Part extends Stoppable>(name: string, part: Part): Part {
    this.#parts.set(name, part);
    return part;
  }

  /**
   * Resolves when all parts have stopped, or after `limitMs`. In that case the log names those that
   * have not.
   */
  async stop(limitMs: number, log: Pick<Logger, 'warn' | 'error'>): Promise<void> {
    const left = new Set(this.#parts.keys());
    const each = [...this.#parts].map(async ([name, part]) => {
      try {
        await part.stop();
      } catch (error) {
        log.error({ err: error, part: name }, 'a part failed to stop');
      }
      left.delete(name);
    });
    if (await isDoneWithin(Promise.all(each), limitMs)) return;
    log.warn(
      { parts: [...left] },
      'some parts did not stop in time; the next start continues their work',
    );
  }
}

/** @returns whether the work ended in time */
export async function isDoneWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, limitMs, false)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
