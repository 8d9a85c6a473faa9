/**
 * A value is reused for 20 times as long as its read took, or for the longest time that is allowed.
 * Until that is reached, reads take at most a twentieth of the server's time, however many callers
 * ask.
 */
const TTL_PER_READ_TIME = 20;
/** A value that can be read this fast is not cached. */
const CHEAP_READ_MS = 20;

interface Cached<T> {
  readonly value: T;
  readonly readAt: number;
  readonly expiresAt: number;
}

/** A cache for one value that is slow to read. Callers that ask at the same time share one read. */
export class TtlCache<T> {
  readonly #read: () => Promise<T>;
  readonly #maxTtlMs: number;
  readonly #now: () => number;
  #reading: Promise<Cached<T>> | null = null;
  #cached: Cached<T> | null = null;

  /** @param maxTtlMs 0: nothing is cached. @param now steady milliseconds */
  constructor(
    read: () => Promise<T>,
    maxTtlMs: number,
    now: () => number = () => performance.now(),
  ) {
    this.#read = read;
    this.#maxTtlMs = maxTtlMs;
    this.#now = now;
  }

  /** @returns the value and its age. A failed read is not cached. */
  async get(): Promise<{ readonly value: T; readonly ageMs: number }> {
    const cached = this.#cached;
    const isFresh = cached !== null && this.#now() < cached.expiresAt;
    const { value, readAt } = isFresh ? cached : await (this.#reading ??= this.#readAgain());
    return { value, ageMs: this.#maxTtlMs === 0 ? 0 : Math.max(0, this.#now() - readAt) };
  }

  async #readAgain(): Promise<Cached<T>> {
    const startedAt = this.#now();
    try {
      const value = await this.#read();
      const readAt = this.#now();
      const tookMs = readAt - startedAt;
      const ttlMs =
        tookMs <= CHEAP_READ_MS ? 0 : Math.min(this.#maxTtlMs, TTL_PER_READ_TIME * tookMs);
      return (this.#cached = { value, readAt, expiresAt: readAt + ttlMs });
    } finally {
      this.#reading = null;
    }
  }
}
