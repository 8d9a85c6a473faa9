import type { Request, RequestHandler, Response } from 'express';
import type { Bounds } from '../limits/bounds.ts';
import { FairQueue } from '../limits/fairQueue.ts';
import { atBound } from './atBound.ts';

/**
 * Requests of one workspace that wait for their turn: more than any automation has open at once.
 * Each of them holds a connection, of which there are ten times as many.
 */
export const MAX_WAITING_TURNS = 1000;
const RETRY_MS = 2000;
/**
 * Requests that take no longer together begin as they come: a round for each would cost a tenth of
 * all work.
 */
const SLICE_MS = 5;

interface Waiting {
  readonly response: Response;
  readonly begin: () => void;
}

/**
 * Requests begin as they come until those of one round of the event loop have taken a few
 * milliseconds. What comes then waits: one begins in each round, each workspace in turn. So a
 * workspace with hundreds of costly requests open delays those of another, a health check or a new
 * connection by one of them, not by all.
 */
export class RequestTurns {
  readonly #bounds: Bounds;
  readonly #maxWaiting: number;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #now: () => number;
  /**
   * When the first request of this round of the loop began, in steady milliseconds; null: none has.
   */
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
   * Lets a request on when its turn comes.
   * @param workspaceOf whose it is
   * @throws rate_limited (429) when too many of the workspace wait
   */
  inTurn(workspaceOf: (response: Response) => string): RequestHandler {
    return (_request: Request, response, next) => {
      if (this.#waiting.isEmpty && this.#isWithinSlice()) return next();
      const workspaceId = workspaceOf(response);
      if (this.#waiting.lengthOf(workspaceId) >= this.#maxWaiting) {
        throw atBound(
          this.#bounds,
          'workspace_turns',
          `${this.#maxWaiting} requests of this workspace wait for their turn.`,
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

  /** Leaves out requests whose client has gone. */
  #takeNext(): Waiting | undefined {
    let next = this.#waiting.takeNext();
    while (next?.response.destroyed) next = this.#waiting.takeNext();
    return next;
  }
}
