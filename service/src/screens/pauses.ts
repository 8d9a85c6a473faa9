/** Holds requests back for a while. When too many wait, the oldest continues early. */
export class Pauses {
  readonly #most: number;
  /** Each ends one pause; the oldest comes first. */
  readonly #ends = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** How many requests wait. */
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
