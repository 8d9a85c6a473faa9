import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { BoundName, Bounds } from './bounds.ts';
import { FairPool } from './fairPool.ts';

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
 * Places that workspaces share, and a line before them: of those that wait, the workspace that had its
 * turn goes behind the others. What waits holds nothing.
 * @see docs/decisions/0040
 */
export class ConnectionShares {
  readonly #options: ConnectionSharesOptions;
  readonly #places: FairPool;
  /** By workspace, the next one first. */
  readonly #waiting = new Map<string, Set<Waiting>>();

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
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Runs when the workspace has its turn.
   * @throws unavailable (503) with Retry-After when it has none in time, or too many of it wait; what `run` throws
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
    const line = this.#waiting.get(workspaceId) ?? new Set<Waiting>();
    if (line.size >= MAX_WAITING) throw this.#refused();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting: Waiting = { begin: resolve };
    this.#waiting.set(workspaceId, line.add(waiting));
    const timer = setTimeout(() => {
      this.#leaveLine(workspaceId, waiting);
      reject(this.#refused());
    }, this.#options.waitMs ?? WAIT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  #refused(): AppError {
    this.#options.bounds.reached(this.#options.bound);
    return new AppError('unavailable', `Too many calls of this workspace wait for the database. ${ERROR_CATALOGUE.unavailable.fix}`, { retryAfterSeconds: RETRY_SECONDS, isAtBound: true });
  }

  #leaveLine(workspaceId: string, waiting: Waiting): void {
    const line = this.#waiting.get(workspaceId)!;
    line.delete(waiting);
    if (line.size === 0) this.#waiting.delete(workspaceId);
  }

  /** Gives the free places to those that wait. */
  #next(): void {
    for (const [workspaceId, line] of [...this.#waiting]) {
      const leave = this.#places.enter(workspaceId);
      if (leave === null) continue;
      const [first] = line;
      this.#leaveLine(workspaceId, first!);
      if (line.size > 0) {
        this.#waiting.delete(workspaceId);
        this.#waiting.set(workspaceId, line);
      }
      first!.begin(leave);
    }
  }
}
