interface BatcherOptions<Item, Result> {
  /** Returns a result for each item, in the same order. An `Error` rejects that item alone. */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
  /** When the collected items run: `queueMicrotask`, `process.nextTick` or `setImmediate`. */
  readonly schedule: (start: () => void) => void;
  readonly maxItems?: number;
  /** The most batches under way at once. Until one ends, new items are collected. */
  readonly maxRunning?: number;
  /** A batch that takes longer no longer counts as under way. Default: it counts until it ends. */
  readonly slowMs?: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly settled: PromiseWithResolvers<Result>;
}

/** Collects items that are added at about the same time, and runs them in one go. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #isScheduled = false;
  #running = 0;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  add(item: Item): Promise<Result> {
    const settled = Promise.withResolvers<Result>();
    if (this.#waiting.length === 0) this.#schedule();
    this.#waiting.push({ item, settled });
    return settled.promise;
  }

  #schedule(): void {
    this.#isScheduled = true;
    this.#options.schedule(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    const { maxItems = Infinity, maxRunning = Infinity, slowMs } = this.#options;
    while (this.#waiting.length > 0 && this.#running < maxRunning) {
      this.#running += 1;
      let isCounted = true;
      const stopCounting = () => {
        if (!isCounted) return;
        isCounted = false;
        clearTimeout(slow);
        this.#running -= 1;
        if (!this.#isScheduled) this.#start(); // the items that `maxRunning` held back
      };
      const slow = slowMs === undefined ? undefined : setTimeout(stopCounting, slowMs);
      void this.#run(this.#waiting.splice(0, maxItems)).finally(stopCounting);
    }
  }

  async #run(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [i, { settled }] of batch.entries()) {
        const result = results[i] as Result | Error;
        if (result instanceof Error) settled.reject(result);
        else settled.resolve(result);
      }
    } catch (error) {
      for (const { settled } of batch) settled.reject(error);
    }
  }
}

/**
 * Runs a batch. When it fails, runs each item alone, so that a bad item does not fail the others.
 * @param failsAll whether an error, such as an outage, would be the same for each item
 */
export const isolateFailures =
  <Item, Result>(
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    failsAll: (error: unknown) => boolean,
  ) =>
  async (items: readonly Item[]): Promise<readonly (Result | Error)[]> => {
    try {
      return await run(items);
    } catch (error) {
      if (items.length === 1 || failsAll(error)) throw error;
      const alone = await Promise.allSettled(items.map((item) => run([item])));
      return alone.map((each) =>
        each.status === 'fulfilled' ? each.value[0]! : (each.reason as Error),
      );
    }
  };
