import type { AttemptVerdict } from '../domain/delivery.ts';

/**
 * How many deliveries of one subscription may be under way at once. It follows what the receiver
 * bears: up while answers are fast, down while they are slow, halved when it breaks down.
 * @see design section 3, Deliveries ("A slow subscriber is not overrun")
 */
export const LOWEST_LIMIT = 1;
export const INITIAL_LIMIT = 4;
export const HIGHEST_LIMIT = 32;
/** An answer within this time lets the limit rise. */
const FAST_MS = 1000;
/** An answer that took longer lowers the limit: more at once would only wait in the receiver's own queue. */
const SLOW_MS = 3000;

export class InFlightLimit {
  #limit = INITIAL_LIMIT;
  #inFlight = 0;

  get free(): number {
    return Math.max(0, Math.floor(this.#limit) - this.#inFlight);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  start(): void {
    this.#inFlight++;
  }

  /** @param verdict null when nothing was sent */
  end(verdict: AttemptVerdict | null, durationMs: number): void {
    // Only a limit that was used to the full has shown that more would be borne.
    const wasFull = this.#inFlight >= Math.floor(this.#limit);
    this.#inFlight--;
    if (verdict === null) return;
    if (verdict === 'retry') this.#set(this.#limit / 2);
    else if (durationMs > SLOW_MS) this.#set(this.#limit - 1);
    else if (durationMs < FAST_MS && wasFull) this.#set(this.#limit + 1 / Math.sqrt(this.#limit));
  }

  #set(limit: number): void {
    this.#limit = Math.min(HIGHEST_LIMIT, Math.max(LOWEST_LIMIT, limit));
  }
}
