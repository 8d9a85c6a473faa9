/**
 * A reading is used again for so many times as long as it took: however many ask, they cost a
 * twentieth of the server's time at most.
 */
const TIMES_AS_LONG = 20;
/** What is read as fast as this is read again each time. */
const CHEAP_MS = 20;

/**
 * Something that is dear to read: those who ask at once share one reading, and it is used again for
 * a while.
 */
export class Kept<T> {
  readonly #read: () => Promise<T>;
  readonly #mostMs: number;
  readonly #now: () => number;
  #reading: Promise<Reading<T>> | null = null;
  #last: Reading<T> | null = null;

  /**
   * @param mostMs used again for at most so long
   * @param now a steady clock, in milliseconds
   */
  constructor(read: () => Promise<T>, mostMs: number, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#mostMs = mostMs;
    this.#now = now;
  }

  /** @returns the value, and how old it is; what fails is not kept */
  async read(): Promise<{ readonly value: T; readonly ageMs: number }> {
    const last = this.#last;
    const { value, at } =
      last !== null && this.#now() < last.until ? last : await (this.#reading ??= this.#readAnew());
    return { value, ageMs: this.#mostMs === 0 ? 0 : Math.max(0, this.#now() - at) };
  }

  async #readAnew(): Promise<Reading<T>> {
    const begunAt = this.#now();
    try {
      const value = await this.#read();
      const at = this.#now();
      const tookMs = at - begunAt;
      return (this.#last = {
        value,
        at,
        until: tookMs <= CHEAP_MS ? at : at + Math.min(this.#mostMs, TIMES_AS_LONG * tookMs),
      });
    } finally {
      this.#reading = null;
    }
  }
}

interface Reading<T> {
  readonly value: T;
  readonly at: number;
  readonly until: number;
}
