/**
 * What waits, a line for each workspace. They are served in turn: the workspace that had its turn
 * goes behind the others.
 */
export class WorkspaceLines<Item> {
  /** By workspace, the next one first; no line is empty. */
  readonly #lines = new Map<string, Set<Item>>();
  readonly #isGone: (item: Item) => boolean;

  /** @param isGone nobody waits for it any more: it is left out when it comes to its turn */
  constructor(isGone: (item: Item) => boolean = () => false) {
    this.#isGone = isGone;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** How many wait, of all workspaces. */
  get length(): number {
    return [...this.#lines.values()].reduce((sum, { size }) => sum + size, 0);
  }

  lengthOf(workspaceId: string): number {
    return this.#lines.get(workspaceId)?.size ?? 0;
  }

  add(workspaceId: string, item: Item): void {
    const line = this.#lines.get(workspaceId) ?? new Set<Item>();
    this.#lines.set(workspaceId, line.add(item));
  }

  /** Takes one out that does not wait any more. Nothing happens when it is not there. */
  delete(workspaceId: string, item: Item): void {
    const line = this.#lines.get(workspaceId);
    if (line?.delete(item) && line.size === 0) this.#lines.delete(workspaceId);
  }

  /**
   * Takes out what is next.
   * @param mayGo whether a workspace may have its turn now; asked of each in turn until one may
   * @returns undefined when nothing waits that may go
   */
  takeNext(mayGo: (workspaceId: string) => boolean = () => true): Item | undefined {
    for (const [workspaceId, line] of this.#lines) {
      for (const item of line) {
        if (!this.#isGone(item)) break;
        line.delete(item);
      }
      if (line.size > 0 && !mayGo(workspaceId)) continue;
      this.#lines.delete(workspaceId);
      if (line.size === 0) continue;
      const [first] = line;
      line.delete(first!);
      if (line.size > 0) this.#lines.set(workspaceId, line);
      return first;
    }
    return undefined;
  }
}
