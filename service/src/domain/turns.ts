/** A place in the queues of several keys. */
export interface Turn {
  /** Settles, never rejects, once everybody before has left. */
  readonly ready: Promise<void>;
  /** Lets those behind on; to be called whatever became of the work, once or more often. */
  leave(): void;
}

/**
 * Lets work that is about the same key go one after the other, in the order in which places were
 * taken. Places are taken at once, without waiting, so whoever takes all of theirs before waiting
 * for any of them never waits for somebody who waits for them.
 */
export class Turns {
  /** Who came last for a key, and all before them, have left. */
  readonly #lastOf = new Map<string, Promise<void>>();

  /** @param keys at least one */
  take(keys: Iterable<string>): Turn {
    const all = [...new Set(keys)];
    const ready = settled(all.map((key) => this.#lastOf.get(key)));
    const left = Promise.withResolvers<undefined>();
    // Who leaves before their turn has come lets nobody past those before.
    const over = settled([ready, left.promise]);
    for (const key of all) this.#lastOf.set(key, over);
    void over.then(() => {
      for (const key of all) if (this.#lastOf.get(key) === over) this.#lastOf.delete(key);
    });
    return { ready, leave: () => left.resolve(undefined) };
  }

  /** How many keys somebody holds or waits for. */
  get size(): number {
    return this.#lastOf.size;
  }
}

const settled = (all: readonly unknown[]): Promise<void> => Promise.all(all).then(() => {});
