/**
 * A pool of places that workspaces share. A workspace may take one more as long as it holds fewer
 * than are free: alone it gets half of the pool, two get a third each, and there is always a place
 * for one more who has none. So nobody has to know who waits, and no place has to be taken back.
 *
 * The size to give is therefore twice what one workspace may use while it is alone.
 */
export class FairPool {
  readonly #size: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Places taken, by all. */
  get held(): number {
    return this.#held;
  }

  /** Places that nobody has. */
  get free(): number {
    return this.#size - this.#held;
  }

  heldBy(workspaceId: string): number {
    return this.#heldBy.get(workspaceId) ?? 0;
  }

  /** How many more places the workspace may take now, one after the other. */
  freeFor(workspaceId: string): number {
    return Math.max(0, Math.ceil((this.free - this.heldBy(workspaceId)) / 2));
  }

  /**
   * @returns what gives the place back, once however often it is called; null when the workspace
   * may take none now
   */
  enter(workspaceId: string): (() => void) | null {
    if (this.freeFor(workspaceId) === 0) return null;
    this.#count(workspaceId, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.#count(workspaceId, -1);
      isHeld = false;
    };
  }

  #count(workspaceId: string, by: 1 | -1): void {
    const now = this.heldBy(workspaceId) + by;
    if (now === 0) this.#heldBy.delete(workspaceId);
    else this.#heldBy.set(workspaceId, now);
    this.#held += by;
  }
}
