/** At most so many at once: the event loop is not held for longer than a few milliseconds. */
const MOST_AT_ONCE = 100;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly settled: PromiseWithResolvers<Result>;
}

/**
 * Does one by one what is asked for one by one, but all that one turn of the event loop asks for in one
 * go: a burst of results is one transaction, not one for each. When a go fails, each of its items is
 * tried alone, so that one that cannot be done takes no other with it.
 */
export class Gathered<Item, Result> {
  readonly #doAll: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #failsAll: (error: unknown) => boolean;
  #waiting: Waiting<Item, Result>[] = [];

  /**
   * @param doAll gives a result for each item, in their order, or has done nothing
   * @param failsAll whether an error has nothing to do with any single item
   */
  constructor(doAll: (items: readonly Item[]) => Promise<readonly Result[]>, failsAll: (error: unknown) => boolean) {
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
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += MOST_AT_ONCE) void this.#go(waiting.slice(at, at + MOST_AT_ONCE));
  }

  async #go(waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#doAll(waiting.map(({ item }) => item));
      waiting.forEach(({ settled }, i) => settled.resolve(results[i]!));
    } catch (error) {
      if (waiting.length === 1 || this.#failsAll(error)) for (const { settled } of waiting) settled.reject(error);
      else for (const each of waiting) void this.#go([each]);
    }
  }
}
