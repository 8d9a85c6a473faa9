import type { BoundName, Bounds } from '../limits/bounds.ts';
import type { FairPool } from '../limits/fairPool.ts';

/** How often it is asked whether a share that has all its places has more to do. */
const ASK_EVERY_MS = 1000;

/**
 * The shares that have all the places they may, and which of them have more that waits: told once
 * each.
 */
export class FullShares {
  readonly #places: FairPool;
  readonly #atShare: { readonly bounds: Bounds; readonly bound: BoundName };
  /** When each was asked last, in steady milliseconds; `told`: it has more. */
  readonly #shares = new Map<string, number | 'told'>();
  #withRoom: readonly string[] = [];

  constructor(places: FairPool, atShare: { readonly bounds: Bounds; readonly bound: BoundName }) {
    this.#places = places;
    this.#atShare = atShare;
  }

  /** Places are about to be given away. */
  beforeClaim(): void {
    this.#withRoom = [...this.#shares.keys()].filter((share) => this.#places.freeFor(share) > 0);
  }

  /**
   * @param claimed the shares that were given places; one that could have had some and was given
   * none has no more to do
   */
  afterClaim(claimed: ReadonlySet<string>): void {
    for (const share of this.#withRoom) if (!claimed.has(share)) this.#shares.delete(share);
    for (const share of claimed) {
      if (this.#places.freeFor(share) === 0 && !this.#shares.has(share))
        this.#shares.set(share, -Infinity);
    }
  }

  /** @param hasMore whether jobs of a share wait for a place */
  async tell(hasMore: (share: string) => Promise<boolean>): Promise<void> {
    for (const [share, asked] of this.#shares) {
      if (asked === 'told' || performance.now() - asked < ASK_EVERY_MS) continue;
      this.#shares.set(share, performance.now());
      if (!(await hasMore(share))) continue;
      this.#shares.set(share, 'told');
      this.#atShare.bounds.reached(this.#atShare.bound);
    }
  }
}
