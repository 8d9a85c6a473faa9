/** Requests that are held back for a while: a bounded number, of which the oldest goes on early. */
export class Pauses {
  readonly #most: number;
  /** Each ends one; the oldest first. */
  readonly #ends = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** How many are held back. */
  get size(): number {
    return this.#ends.size;
  }

  pause(ms: number): Promise<void> {
    if (this.#ends.size >= this.#most) this.#ends.values().next().value!();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#ends.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#ends.add(end);
    });
  }
}
