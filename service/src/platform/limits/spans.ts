/** A count that is valid until a certain time. */
export interface Span {
  points: number;
  /** In whole milliseconds of the monotonic clock. */
  readonly endsAt: number;
}

/** Ended spans are removed at most this often, since the removal reads all spans. */
const SWEEP_MS = 1_000;

/**
 * Keeps the spans of a bounded number of keys. To make room, ended spans are removed first, then
 * the span used longest ago. There are no timers: with a timer for each key, refused sign-ins took
 * 592 MB.
 */
export class Spans {
  readonly #spans = new Map<string, Span>(); // in the order of their last use
  readonly #maxKeys: number;
  readonly #now: () => number;
  #sweptAt: number;

  constructor(maxKeys: number, now: () => number) {
    this.#maxKeys = maxKeys;
    this.#now = now;
    this.#sweptAt = now();
  }

  get size(): number {
    return this.#spans.size;
  }

  /** The span of a key, unless it has ended. Counts as a use of the span. */
  find(key: string): Span | null {
    const span = this.#spans.get(key);
    if (span === undefined) return null;
    this.#spans.delete(key);
    if (span.endsAt <= this.#now()) return null;
    this.#spans.set(key, span);
    return span;
  }

  /** Adds a new span. */
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
    if (this.#spans.size >= this.#maxKeys) this.#spans.delete(this.#spans.keys().next().value!);
  }
}
