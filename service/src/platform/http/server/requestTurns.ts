import type { Request, RequestHandler, Response } from 'express';
import type { Bounds } from '../../limits/bounds.ts';
import { FairQueue } from '../../limits/fairQueue.ts';
import { errorAtBound } from './errorAtBound.ts';

/**
 * The most requests of one workspace that wait for their turn: more than any automation has open.
 * Each holds one of the server's 10,000 connections.
 */
const MAX_WAITING_TURNS = 1000;
const RETRY_MS = 2000;
/**
 * While the requests of a round together take less than this, they begin as they arrive. If each
 * request waited for a round of its own, the waiting would cost a tenth of all work.
 */
const SLICE_MS = 5;

interface Waiting {
  readonly response: Response;
  readonly begin: () => void;
}

/**
 * Shares the event loop between workspaces. Requests begin as they arrive, until those of one round
 * of the loop have taken a few milliseconds. Further requests wait: one begins in each round, and
 * the workspaces take turns. So hundreds of costly requests of one workspace delay another
 * workspace, a health check or a new connection by one request only.
 */
export class RequestTurns {
  readonly #bounds: Bounds;
  readonly #maxWaiting: number;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #now: () => number;
  /** When this round's first request began, in steady milliseconds; null before any has begun. */
  #roundBegan: number | null = null;

  constructor(
    bounds: Bounds,
    { maxWaiting = MAX_WAITING_TURNS, now = () => performance.now() } = {},
  ) {
    this.#bounds = bounds;
    this.#maxWaiting = maxWaiting;
    this.#now = now;
  }

  /**
   * Passes a request on when its turn comes.
   * @param workspaceOf finds the workspace of a request
   * @throws rate_limited (429) when too many requests of the workspace wait
   */
  inTurn(workspaceOf: (request: Request, response: Response) => string): RequestHandler {
    return (request, response, next) => {
      if (this.#waiting.isEmpty && this.#isWithinSlice()) return next();
      const workspaceId = workspaceOf(request, response);
      if (this.#waiting.lengthOf(workspaceId) >= this.#maxWaiting) {
        throw errorAtBound(
          this.#bounds,
          'workspace_turns',
          `${this.#maxWaiting} requests of this workspace are waiting already.`,
          { retryAfterMs: RETRY_MS },
        );
      }
      this.#waiting.add(workspaceId, { response, begin: next });
    };
  }

  #isWithinSlice(): boolean {
    if (this.#roundBegan === null) this.#beginRound();
    return this.#now() - this.#roundBegan! < SLICE_MS;
  }

  #beginRound(): void {
    this.#roundBegan = this.#now();
    setImmediate(() => {
      this.#roundBegan = null;
      const next = this.#takeNext();
      if (next === undefined) return;
      this.#beginRound();
      next.begin();
    });
  }

  /** Skips requests whose client has disconnected. */
  #takeNext(): Waiting | undefined {
    let next = this.#waiting.takeNext();
    while (next?.response.destroyed) next = this.#waiting.takeNext();
    return next;
  }
}
