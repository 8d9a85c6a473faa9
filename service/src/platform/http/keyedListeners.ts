/** Listeners by the key that they are interested in (a contact, a workspace). */
export class KeyedListeners<Change> {
  readonly #byKey = new Map<string, Set<(change: Change) => void>>();

  /** @returns a function that stops listening */
  listen(key: string, listener: (change: Change) => void): () => void {
    const set = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, set.add(listener));
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.#byKey.get(key) === set) this.#byKey.delete(key);
    };
  }

  /** Whether the key has a listener. */
  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  tell(key: string, change: Change): void {
    for (const each of this.#byKey.get(key) ?? []) each(change);
  }

  tellAll(change: Change): void {
    for (const each of [...this.#byKey.values()].flatMap((set) => [...set])) each(change);
  }
}
