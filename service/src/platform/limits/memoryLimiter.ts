import { MAX_KEYS, shortKey, type Limit, type Limiter, type Limiters } from './limiter.ts';
import { Spans, type Span } from './spans.ts';

/** Counts in this process alone, for a bounded number of keys. */
export class MemoryLimiter implements Limiter {
  readonly #limit: Limit;
  readonly #now: () => number;
  readonly #spans: Spans;

  /** @param now steady milliseconds */
  constructor(limit: Limit, { maxKeys = MAX_KEYS, now = () => performance.now() } = {}) {
    this.#limit = limit;
    this.#now = now;
    this.#spans = new Spans(maxKeys, now);
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#spans.size;
  }

  async count(key: string, points = 1): Promise<number | null> {
    const span = this.#counted(key, points);
    return span.points <= this.#limit.most ? null : span.endsAt - this.#now();
  }

  async add(key: string): Promise<number> {
    return this.#counted(key, 1).points;
  }

  async takeBack(key: string): Promise<void> {
    const span = this.#spans.find(shortKey(key));
    if (span && span.points > 0) span.points -= 1;
  }

  async clear(key: string): Promise<void> {
    this.#spans.delete(shortKey(key));
  }

  #counted(key: string, points: number): Span {
    const short = shortKey(key);
    const begun = this.#spans.find(short);
    if (begun) {
      begun.points += points;
      return begun;
    }
    const span = { points, endsAt: Math.ceil(this.#now()) + this.#limit.seconds * 1000 };
    this.#spans.put(short, span);
    return span;
  }
}

export const memoryLimiters: Limiters = (limit) => new MemoryLimiter(limit);
