/**
 * Places that workspaces share. A workspace may take a place while it holds fewer places than are
 * free. So one workspace alone gets half of the pool, two get a third each, and a workspace without
 * any place finds one, unless very many share the pool. The pool needs no list of waiting
 * workspaces, and takes no place back.
 *
 * Make the pool twice as large as what one workspace may use alone.
 */
export class FairPool {
  readonly #size: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** How many places are taken, by all workspaces. */
  get held(): number {
    return this.#held;
  }

  /** How many places are free. */
  get free(): number {
    return this.#size - this.#held;
  }

  heldBy(workspaceId: string): number {
    return this.#heldBy.get(workspaceId) ?? 0;
  }

  /** How many more places the workspace may take now. */
  freeFor(workspaceId: string): number {
    return Math.max(0, Math.ceil((this.free - this.heldBy(workspaceId)) / 2));
  }

  /**
   * @returns a function that gives the places back, once; null when the workspace may not take so
   * many now
   */
  enter(workspaceId: string, places = 1): (() => void) | null {
    if (this.freeFor(workspaceId) < places) return null;
    this.#count(workspaceId, places);
    let isHeld = true;
    return () => {
      if (isHeld) this.#count(workspaceId, -places);
      isHeld = false;
    };
  }

  #count(workspaceId: string, by: number): void {
    const now = this.heldBy(workspaceId) + by;
    if (now === 0) this.#heldBy.delete(workspaceId);
    else this.#heldBy.set(workspaceId, now);
    this.#held += by;
  }
}
