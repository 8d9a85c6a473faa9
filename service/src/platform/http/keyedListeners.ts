/** Listeners by the key that they are interested in (a contact, a workspace). */
export class KeyedListeners<News> {
  readonly #byKey = new Map<string, Set<(news: News) => void>>();

  /** @returns a function that stops listening */
  listen(key: string, listener: (news: News) => void): () => void {
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

  tell(key: string, news: News): void {
    for (const each of this.#byKey.get(key) ?? []) each(news);
  }

  tellAll(news: News): void {
    for (const each of [...this.#byKey.values()].flatMap((set) => [...set])) each(news);
  }
}
