import type { Deps } from '../deps.ts';
import { errorAtBound } from '../http/server/errorAtBound.ts';
import type { Bounds } from './bounds.ts';
import { QueuedPool } from './queuedPool.ts';

/** As long as PostgreSQL waits for a lock, and shorter than callers wait for an answer. */
const WAIT_MS = 15_000;
/** More calls of one workspace would not get their turn within WAIT_MS. */
const MAX_WAITING_PER_WORKSPACE = 1_000;
const RETRY_MS = 2000;

/** Transactions under way, of all workspaces: two full batches. One workspace alone gets half. */
const PLACES = 128;

/**
 * Shares the database among workspaces, which wait for their turn. A call that waits has no
 * transaction under way.
 * @see docs/decisions/0017-workspaces-share-what-is-under-way.md
 */
export class ConnectionShares {
  readonly #bounds: Bounds;
  readonly #places: QueuedPool;
  readonly #waitMs: number;

  constructor(bounds: Bounds, { places = PLACES, waitMs = WAIT_MS } = {}) {
    this.#bounds = bounds;
    this.#places = new QueuedPool(places);
    this.#waitMs = waitMs;
  }

  /** How many places are taken, by all workspaces. */
  get held(): number {
    return this.#places.held;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#places.waiting;
  }

  /**
   * Runs the function when the workspace has its turn.
   * @throws unavailable (503) with Retry-After when its turn does not come in time, or when too
   * many of its calls wait
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
    }, this.#waitMs);
    return promise.finally(() => clearTimeout(timer));
  }

  #refused(): Error {
    const words = 'Too many calls of this workspace wait for the database.';
    const details = { code: 'unavailable', retryAfterMs: RETRY_MS } as const;
    return errorAtBound(this.#bounds, 'workspace_transactions', words, details);
  }
}

/**
 * The same deps, whose transactions wait for the turn of their workspace. Without shares, or
 * outside of a workspace, they do not wait.
 */
export function withShares(
  deps: Deps,
  shares: ConnectionShares | null,
  workspaceIdOf: () => string | undefined,
): Deps {
  if (shares === null) return deps;
  const transaction: Deps['store']['transaction'] = (fn) => {
    const id = workspaceIdOf();
    const run = () => deps.store.transaction(fn);
    return id === undefined ? run() : shares.run(id, run);
  };
  return { ...deps, store: { transaction } };
}
