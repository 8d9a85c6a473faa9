import { AppError, errorWithFix } from '../http/errorCatalogue.ts';
import type { BoundName, Bounds } from './bounds.ts';
import { QueuedPool } from './queuedPool.ts';

/** As long as PostgreSQL waits for a lock. The caller has not given up by then. */
const WAIT_MS = 15_000;
/** More calls of one workspace would not have their turn in that time. */
const MAX_WAITING_PER_WORKSPACE = 1_000;
const RETRY_SECONDS = 2;

interface ConnectionSharesOptions {
  /** Transactions of all workspaces under way. One workspace alone gets half of them. */
  readonly places: number;
  readonly bounds: Bounds;
  readonly bound: BoundName;
  readonly waitMs?: number;
}

/**
 * Shares the database among workspaces, which wait for their turn. A call that waits has no
 * transaction under way.
 * @see docs/decisions/0017-workspaces-share-what-is-under-way.md
 */
export class ConnectionShares {
  readonly #options: ConnectionSharesOptions;
  readonly #places: QueuedPool;

  constructor(options: ConnectionSharesOptions) {
    this.#options = options;
    this.#places = new QueuedPool(options.places);
  }

  /** Places taken, by all. */
  get held(): number {
    return this.#places.held;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#places.waiting;
  }

  /**
   * Runs when the workspace has its turn.
   * @throws unavailable (503) with Retry-After when its turn does not come in time, or when too many
   * of its calls wait
   */
  async run<T>(workspaceId: string, run: () => Promise<T>): Promise<T> {
    const leave = this.#places.enter(workspaceId) ?? (await this.#turnOf(workspaceId));
    try {
      return await run();
    } finally {
      leave();
    }
  }

  async #turnOf(workspaceId: string): Promise<() => void> {
    if (this.#places.waitingOf(workspaceId) >= MAX_WAITING_PER_WORKSPACE) throw this.#refused();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const giveUp = this.#places.wait(workspaceId, 1, resolve);
    const timer = setTimeout(() => {
      giveUp();
      reject(this.#refused());
    }, this.#options.waitMs ?? WAIT_MS);
    return promise.finally(() => clearTimeout(timer));
  }

  #refused(): AppError {
    this.#options.bounds.reached(this.#options.bound);
    return errorWithFix('unavailable', 'Too many calls of this workspace wait for the database.', {
      retryAfterSeconds: RETRY_SECONDS,
      isAtBound: true,
    });
  }
}
