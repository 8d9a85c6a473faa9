/** How often a lineage without a living subscription is looked at again. */
const LOOK_AGAIN_MS = 500;
/**
 * One that was not looked at for so long has nothing to send any more, or another process looks
 * after it.
 */
const FORGOTTEN_AFTER_MS = 10 * 60 * 1000;
const FIRST_SWEEP_AT = 64;

/**
 * The lineages whose subscription was removed and has no successor yet: nothing of theirs is sent.
 * Every half second one delivery is claimed to see whether that has changed, so that thousands that
 * wait cost no more than one, and a successor that another process made is noticed as well.
 * @see decision 0022
 */
export class ParkedLineages {
  readonly #until = new Map<string, number>();
  readonly #wake: () => void;
  #sweepAt = FIRST_SWEEP_AT;

  /** @param wake called when a lineage may be looked at again */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  /** It has no receiver now. */
  park(lineageId: string): void {
    if (this.#until.size >= this.#sweepAt) this.#sweep();
    this.#until.set(lineageId, performance.now() + LOOK_AGAIN_MS);
    setTimeout(this.#wake, LOOK_AGAIN_MS + 1).unref();
  }

  /** It has a receiver, or nothing waits for one any more. */
  leave(lineageId: string): void {
    this.#until.delete(lineageId);
  }

  /** How many of its deliveries may be claimed, out of those that its limit leaves free. */
  slotsOf(lineageId: string, free: number): number {
    const until = this.#until.get(lineageId);
    if (until === undefined) return free;
    return performance.now() < until ? 0 : Math.min(1, free);
  }

  /** Looks at all of them only when they have doubled since the last time. */
  #sweep(): void {
    const old = performance.now() - FORGOTTEN_AFTER_MS;
    for (const [lineageId, until] of this.#until) if (until < old) this.#until.delete(lineageId);
    this.#sweepAt = Math.max(FIRST_SWEEP_AT, 2 * this.#until.size);
  }
}
