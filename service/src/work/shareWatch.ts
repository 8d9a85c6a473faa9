import type { BoundName, Bounds } from '../limits/bounds.ts';
import type { FairPool } from '../limits/fairPool.ts';

/** How often to check whether a workspace that has its full share has more jobs waiting. */
const CHECK_EVERY_MS = 1000;

/**
 * Reports the bound when a workspace has all the places that it may have, and more jobs waiting:
 * once each time that happens.
 */
export class ShareWatch {
  readonly #places: FairPool;
  readonly #bound: { readonly bounds: Bounds; readonly name: BoundName };
  /** Full shares, and when each was checked last, in steady milliseconds. */
  readonly #full = new Map<string, number | 'reported'>();
  #withRoom: readonly string[] = [];

  constructor(places: FairPool, bound: { readonly bounds: Bounds; readonly name: BoundName }) {
    this.#places = places;
    this.#bound = bound;
  }

  beforeClaim(): void {
    this.#withRoom = [...this.#full.keys()].filter((share) => this.#places.freeFor(share) > 0);
  }

  /**
   * A share that had room and got no claim has no jobs waiting.
   * @param claimed the shares whose jobs were claimed
   */
  afterClaim(claimed: ReadonlySet<string>): void {
    for (const share of this.#withRoom) if (!claimed.has(share)) this.#full.delete(share);
    for (const share of claimed) {
      if (this.#places.freeFor(share) === 0 && !this.#full.has(share))
        this.#full.set(share, -Infinity);
    }
  }

  /** @param hasMore whether a share has due jobs that wait for a place */
  async report(hasMore: (share: string) => Promise<boolean>): Promise<void> {
    for (const [share, checkedAt] of this.#full) {
      if (checkedAt === 'reported' || performance.now() - checkedAt < CHECK_EVERY_MS) continue;
      this.#full.set(share, performance.now());
      if (!(await hasMore(share))) continue;
      this.#full.set(share, 'reported');
      this.#bound.bounds.reached(this.#bound.name);
    }
  }
}
