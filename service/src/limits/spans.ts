/** What is counted until a moment. */
export interface Span {
  points: number;
  /** Steady milliseconds, whole. */
  readonly endsAt: number;
}

/** What has ended is looked for at most this often: it means a look at all. */
const SWEEP_MS = 1_000;

/**
 * The spans of keys, of which it holds a bounded number: those that have ended go first, and then
 * those used longest ago. It has no timers: with one for each key, refused sign-ins filled 592 MB.
 */
export class Spans {
  readonly #spans = new Map<string, Span>(); // in the order of their last use
  readonly #most: number;
  readonly #now: () => number;
  #sweptAt: number;

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
    this.#sweptAt = now();
  }

  get size(): number {
    return this.#spans.size;
  }

  /** The span of a key that has not ended; it becomes the one used last. */
  find(key: string): Span | null {
    const span = this.#spans.get(key);
    if (span === undefined) return null;
    this.#spans.delete(key);
    if (span.endsAt <= this.#now()) return null;
    this.#spans.set(key, span);
    return span;
  }

  /** Keeps a new one. */
  put(key: string, span: Span): void {
    this.#makeRoom();
    this.#spans.set(key, span);
  }

  delete(key: string): void {
    this.#spans.delete(key);
  }

  #makeRoom(): void {
    const now = this.#now();
    if (now - this.#sweptAt >= SWEEP_MS) {
      this.#sweptAt = now;
      for (const [key, { endsAt }] of this.#spans) if (endsAt <= now) this.#spans.delete(key);
    }
    if (this.#spans.size >= this.#most) this.#spans.delete(this.#spans.keys().next().value!);
  }
}
