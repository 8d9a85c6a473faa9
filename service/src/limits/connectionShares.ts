import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { BoundName, Bounds } from './bounds.ts';
import { FairPool } from './fairPool.ts';
import { WorkspaceLines } from './workspaceLines.ts';

/** As long as PostgreSQL waits for a lock; who asks has not given up by then. */
const WAIT_MS = 15_000;
/** More of one workspace would not come to their turn in that time. */
const MAX_WAITING = 1_000;
const RETRY_SECONDS = 2;

interface Waiting {
  readonly begin: (leave: () => void) => void;
}

export interface ConnectionSharesOptions {
  /** Of the pool: one workspace alone has half of it. */
  readonly places: number;
  readonly bounds: Bounds;
  readonly bound: BoundName;
  readonly waitMs?: number;
}

/**
 * Places that workspaces share, and a line before them: of those that wait, the workspace that had
 * its turn goes behind the others. What waits holds nothing.
 * @see docs/decisions/0040
 */
export class ConnectionShares {
  readonly #options: ConnectionSharesOptions;
  readonly #places: FairPool;
  readonly #waiting = new WorkspaceLines<Waiting>();

  constructor(options: ConnectionSharesOptions) {
    this.#options = options;
    this.#places = new FairPool(options.places);
  }

  /** Places taken, by all. */
  get held(): number {
    return this.#places.held;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs when the workspace has its turn.
   * @throws unavailable (503) with Retry-After when it has none in time, or too many of it wait;
   * what `run` throws
   */
  async run<T>(workspaceId: string, run: () => Promise<T>): Promise<T> {
    const leave = this.#places.enter(workspaceId) ?? (await this.#turnOf(workspaceId));
    try {
      return await run();
    } finally {
      leave();
      this.#next();
    }
  }

  async #turnOf(workspaceId: string): Promise<() => void> {
    if (this.#waiting.lengthOf(workspaceId) >= MAX_WAITING) throw this.#refused();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting: Waiting = { begin: resolve };
    this.#waiting.add(workspaceId, waiting);
    const timer = setTimeout(() => {
      this.#waiting.delete(workspaceId, waiting);
      reject(this.#refused());
    }, this.#options.waitMs ?? WAIT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  #refused(): AppError {
    this.#options.bounds.reached(this.#options.bound);
    return new AppError(
      'unavailable',
      `Too many calls of this workspace wait for the database. ${ERROR_CATALOGUE.unavailable.fix}`,
      { retryAfterSeconds: RETRY_SECONDS, isAtBound: true },
    );
  }

  /** Gives the free places to those that wait. */
  #next(): void {
    let leave: (() => void) | null = null;
    const mayGo = (workspaceId: string) => (leave = this.#places.enter(workspaceId)) !== null;
    for (
      let next = this.#waiting.takeNext(mayGo);
      next !== undefined;
      next = this.#waiting.takeNext(mayGo)
    )
      next.begin(leave!);
  }
}
