/** Picks one of a workspace's items to leave the queue now, or none. */
export type Choose<Item> = (workspaceId: string, waiting: Iterable<Item>) => Item | undefined;

const theFirst = <Item>(_workspaceId: string, [first]: Iterable<Item>): Item | undefined => first;

/** A queue for each workspace. Workspaces take turns: after its turn, a workspace goes last. */
export class FairQueue<Item> {
  /** By workspace, in the order of their turns. No queue is empty. */
  readonly #queues = new Map<string, Set<Item>>();

  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** How many items wait, of all workspaces. */
  get length(): number {
    return [...this.#queues.values()].reduce((sum, { size }) => sum + size, 0);
  }

  lengthOf(workspaceId: string): number {
    return this.#queues.get(workspaceId)?.size ?? 0;
  }

  add(workspaceId: string, item: Item): void {
    const queue = this.#queues.get(workspaceId) ?? new Set<Item>();
    this.#queues.set(workspaceId, queue.add(item));
  }

  /** Removes an item that no longer waits, if it is still there. */
  delete(workspaceId: string, item: Item): void {
    const queue = this.#queues.get(workspaceId);
    if (queue?.delete(item) && queue.size === 0) this.#queues.delete(workspaceId);
  }

  /** Removes and returns the next item: by default the first item of the workspace in turn. */
  takeNext(choose: Choose<Item> = theFirst): Item | undefined {
    for (const [workspaceId, queue] of this.#queues) {
      const chosen = choose(workspaceId, queue);
      if (chosen === undefined) continue;
      queue.delete(chosen);
      this.#queues.delete(workspaceId);
      if (queue.size > 0) this.#queues.set(workspaceId, queue);
      return chosen;
    }
    return undefined;
  }
}
