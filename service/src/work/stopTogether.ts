import type { Logger } from 'pino';

export interface Stoppable {
  /** Takes no more work; resolves when what is in flight has ended. */
  stop(): Promise<void>;
}

/**
 * Parts of the service that are stopped at the same time, and waited for together, not for ever.
 */
export class StopTogether {
  readonly #parts = new Map<string, Stoppable>();

  /** @param name for the log, should it not end */
  add<Part extends Stoppable>(name: string, part: Part): Part {
    this.#parts.set(name, part);
    return part;
  }

  /**
   * @returns when all have stopped, or after `limitMs`, with a line in the log that names those
   * that have not
   */
  async stop(limitMs: number, log: Pick<Logger, 'warn' | 'error'>): Promise<void> {
    const left = new Set(this.#parts.keys());
    const each = [...this.#parts].map(async ([name, part]) => {
      try {
        await part.stop();
      } catch (error) {
        log.error({ err: error, part: name }, 'a part could not be stopped in order');
      }
      left.delete(name);
    });
    if (await isDoneWithin(Promise.all(each), limitMs)) return;
    log.warn(
      { parts: [...left] },
      'the stop waits no longer; what is not finished is done after the next start',
    );
  }
}

/** Waits for something, but not for ever. @returns whether it ended in time */
export async function isDoneWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, limitMs, false)));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
