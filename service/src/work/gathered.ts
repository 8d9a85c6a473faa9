/** At most so many at once: the event loop is not held for longer than a few milliseconds. */
const MAX_BATCH_SIZE = 100;
/**
 * More at the same time would only wait for each other's locks; what comes meanwhile goes together
 * afterwards.
 */
const MAX_CONCURRENT_BATCHES = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly settled: PromiseWithResolvers<Result>;
}

/**
 * Does one by one what is asked for one by one, but all that one turn of the event loop asks for,
 * or that comes while others are being done, in one go: a burst of results is one transaction, not
 * one for each. When a go fails, each of its items is tried alone, so that one that cannot be done
 * takes no other with it.
 */
export class Gathered<Item, Result> {
  readonly #doAll: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #failsAll: (error: unknown) => boolean;
  #waiting: Waiting<Item, Result>[] = [];
  #going = 0;

  /**
   * @param doAll gives a result for each item, in their order, or has done nothing
   * @param failsAll whether an error has nothing to do with any single item
   */
  constructor(
    doAll: (items: readonly Item[]) => Promise<readonly Result[]>,
    failsAll: (error: unknown) => boolean,
  ) {
    this.#doAll = doAll;
    this.#failsAll = failsAll;
  }

  do(item: Item): Promise<Result> {
    const settled = Promise.withResolvers<Result>();
    if (this.#waiting.length === 0) setImmediate(() => this.#begin());
    this.#waiting.push({ item, settled });
    return settled.promise;
  }

  #begin(): void {
    while (this.#waiting.length > 0 && this.#going < MAX_CONCURRENT_BATCHES) {
      this.#going += 1;
      void this.#go(this.#waiting.splice(0, MAX_BATCH_SIZE)).finally(() => {
        this.#going -= 1;
        this.#begin();
      });
    }
  }

  async #go(waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#doAll(waiting.map(({ item }) => item));
      waiting.forEach(({ settled }, i) => settled.resolve(results[i]!));
    } catch (error) {
      const failsAll = this.#failsAll(error);
      if (waiting.length === 1 || failsAll)
        for (const { settled } of waiting) settled.reject(error);
      else await Promise.all(waiting.map((each) => this.#go([each])));
      // What waits behind them would fail in the same way, one go after the other.
      if (failsAll) for (const { settled } of this.#waiting.splice(0)) settled.reject(error);
    }
  }
}
