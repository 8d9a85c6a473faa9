import type { AttemptVerdict } from '../delivery.ts';

const MIN_IN_FLIGHT = 1;
export const INITIAL_IN_FLIGHT = 4;
export const MAX_IN_FLIGHT = 32;
/** An answer within this part of the deadline lets the limit rise. */
const FAST = 0.1;
/** An answer slower than this part lowers it: more would only wait in the receiver's own queue. */
const SLOW = 0.3;
/** After this many failures in a row, the receiver counts as down. */
const DOWN_AFTER = 5;
/**
 * How long a receiver that is down gets nothing after each failure. One that refuses at once would
 * otherwise get hundreds of attempts a second, each of which is recorded.
 */
const PAUSE_MS = 100;
/** How often to check whether a removed subscription was revived, perhaps by another process. */
const REMOVED_PAUSE_MS = 500;

/**
 * How many deliveries of one subscription may be under way at once. The limit rises while answers
 * are fast, falls while they are slow, and is halved by each 5xx and each attempt without an answer.
 * A receiver that handles one request at a time, each in s seconds, answers the last of n after n·s
 * seconds. The limit settles where that is about a tenth of the deadline, or at 1.
 * @see docs/decisions/0027-how-fast-a-subscriber-is-served.md
 */
export class InFlightLimit {
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #limit = INITIAL_IN_FLIGHT;
  #inFlight = 0;
  #failuresInRow = 0;
  #pausedUntil = -Infinity;
  #isSubscriptionRemoved = false;
  #usedAt: number;

  /**
   * @param timeoutMs the deadline of an attempt
   * @param now a steady clock, in milliseconds
   */
  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
    this.#usedAt = now();
  }

  /** How many more deliveries may begin now. */
  get free(): number {
    if (this.pausedMs > 0) return 0;
    const free = Math.max(0, this.limit - this.#inFlight);
    return this.#isSubscriptionRemoved ? Math.min(1, free) : free;
  }

  /** For how much longer no delivery may begin. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.#now());
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** How long ago the last delivery began or ended; 0 while one is under way. */
  get idleMs(): number {
    return this.#inFlight > 0 ? 0 : this.#now() - this.#usedAt;
  }

  /**
   * Notes whether the subscription is removed. While it is, one delivery is claimed every half
   * second, so thousands of waiting deliveries cost no more than one.
   */
  noteRemoved(isRemoved: boolean): void {
    this.#isSubscriptionRemoved = isRemoved;
    if (isRemoved) this.#pausedUntil = this.#now() + REMOVED_PAUSE_MS;
  }

  start(): void {
    this.#inFlight++;
    this.#usedAt = this.#now();
  }

  /** @param verdict null when nothing was sent */
  end(verdict: AttemptVerdict | null, durationMs = 0): void {
    // Only when the limit was used up does a fast answer show that the receiver can take more.
    const wasFull = this.#inFlight >= this.limit;
    this.#inFlight--;
    this.#usedAt = this.#now();
    if (verdict === null) return;
    this.#failuresInRow = verdict === 'retry' ? this.#failuresInRow + 1 : 0;
    this.#pausedUntil = this.#failuresInRow >= DOWN_AFTER ? this.#usedAt + PAUSE_MS : -Infinity;
    if (verdict === 'retry') this.#set(this.#limit / 2);
    else if (durationMs > SLOW * this.#timeoutMs) this.#set(this.#limit - 1);
    else if (durationMs < FAST * this.#timeoutMs && wasFull)
      this.#set(this.#limit + 1 / Math.sqrt(this.#limit));
  }

  #set(limit: number): void {
    this.#limit = Math.min(MAX_IN_FLIGHT, Math.max(MIN_IN_FLIGHT, limit));
  }
}

/** A limit that was unused for this long no longer says anything about the receiver. */
const FORGOTTEN_AFTER_MS = 10 * 60 * 1000;
const FIRST_SWEEP_AT = 64;

/**
 * The limit of each subscription's deliveries. A limit that has long been idle is forgotten, as
 * subscriptions come and go.
 */
export class InFlightLimits {
  readonly #bySubscription = new Map<string, InFlightLimit>();
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #sweepAt = FIRST_SWEEP_AT;

  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  get size(): number {
    return this.#bySubscription.size;
  }

  of(subscriptionId: string): InFlightLimit {
    let limit = this.#bySubscription.get(subscriptionId);
    if (!limit) {
      if (this.size >= this.#sweepAt) this.#sweep();
      this.#bySubscription.set(
        subscriptionId,
        (limit = new InFlightLimit(this.#timeoutMs, this.#now)),
      );
    }
    return limit;
  }

  /** Runs only when the number of limits has doubled since the last sweep. */
  #sweep(): void {
    for (const [subscriptionId, limit] of this.#bySubscription)
      if (limit.idleMs > FORGOTTEN_AFTER_MS) this.#bySubscription.delete(subscriptionId);
    this.#sweepAt = Math.max(FIRST_SWEEP_AT, 2 * this.size);
  }
}
