import { FairPool } from './fairPool.ts';
import { FairQueue, type Choose } from './fairQueue.ts';

type Leave = () => void;

interface Waiting {
  readonly places: number;
  readonly start: (leave: Leave) => void;
}

/** A fair pool with a fair queue for the workspaces that find no place. */
export class QueuedPool {
  readonly #pool: FairPool;
  readonly #waiting = new FairQueue<Waiting>();

  /** @param size twice as many places as one workspace may have alone */
  constructor(size: number) {
    this.#pool = new FairPool(size);
  }

  /** How many places are taken, by all workspaces. */
  get held(): number {
    return this.#pool.held;
  }

  /** How many wait, of all workspaces. */
  get waiting(): number {
    return this.#waiting.length;
  }

  waitingOf(workspaceId: string): number {
    return this.#waiting.lengthOf(workspaceId);
  }

  /** @returns a function that gives the places back; null when the workspace has to wait */
  enter(workspaceId: string, places = 1): Leave | null {
    return this.waitingOf(workspaceId) > 0 ? null : this.#take(workspaceId, places);
  }

  /**
   * @param start called when there are places, with a function that gives them back
   * @returns a function that gives up waiting
   */
  wait(workspaceId: string, places: number, start: (leave: Leave) => void): () => void {
    const waiting: Waiting = { places, start };
    this.#waiting.add(workspaceId, waiting);
    return () => {
      this.#waiting.delete(workspaceId, waiting);
      this.#startWaiting(); // those behind it may need fewer places
    };
  }

  #take(workspaceId: string, places: number): Leave | null {
    const leave = this.#pool.enter(workspaceId, places);
    if (leave === null) return null;
    return () => {
      leave();
      this.#startWaiting();
    };
  }

  /** Starts all that find places, each workspace in turn. */
  #startWaiting(): void {
    let leave: Leave | null = null;
    const choose: Choose<Waiting> = (workspaceId, [first]) => {
      leave = this.#take(workspaceId, first!.places);
      return leave === null ? undefined : first;
    };
    for (let next = this.#waiting.takeNext(choose); next; next = this.#waiting.takeNext(choose))
      next.start(leave!);
  }
}
