import type { Request, RequestHandler, Response } from 'express';
import type { Bounds } from '../limits/bounds.ts';
import { atBound } from './atBound.ts';

/**
 * Requests of one workspace that wait for their turn: more than any automation has open at once. Each of
 * them holds a connection, of which there are ten times as many.
 */
export const MAX_WAITING_TURNS = 1000;
const RETRY_MS = 2000;

interface Waiting {
  readonly response: Response;
  readonly begin: () => void;
}

/**
 * Requests begin one after another, each workspace in turn, and between two the event loop goes round once:
 * whoever has hundreds of costly ones open delays a request of another workspace, a health check or a new
 * connection by one of them, not by all. A request that nobody else is in front of begins at once.
 */
export class Turns {
  readonly #bounds: Bounds;
  readonly #maxWaiting: number;
  /** By workspace, the next one first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** A request has begun in this round of the loop. */
  #isTaken = false;

  constructor(bounds: Bounds, maxWaiting = MAX_WAITING_TURNS) {
    this.#bounds = bounds;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Lets a request on when its turn comes.
   * @param workspaceOf whose it is
   * @throws rate_limited (429) when too many of the workspace wait
   */
  inTurn(workspaceOf: (response: Response) => string): RequestHandler {
    return (_request: Request, response, next) => {
      if (!this.#isTaken && this.#waiting.size === 0) {
        this.#take();
        return next();
      }
      const workspaceId = workspaceOf(response);
      const waiting = this.#waiting.get(workspaceId) ?? [];
      if (waiting.length >= this.#maxWaiting) {
        throw atBound(this.#bounds, 'workspace_turns', `${this.#maxWaiting} requests of this workspace wait for their turn.`, { retryAfterMs: RETRY_MS });
      }
      waiting.push({ response, begin: next });
      this.#waiting.set(workspaceId, waiting);
    };
  }

  #take(): void {
    this.#isTaken = true;
    setImmediate(() => {
      this.#isTaken = false;
      const next = this.#next();
      if (next === undefined) return;
      this.#take();
      next.begin();
    });
  }

  /** The workspace that had its turn goes behind the others. What nobody waits for any more is left out. */
  #next(): Waiting | undefined {
    for (const [workspaceId, waiting] of this.#waiting) {
      const at = waiting.findIndex(({ response }) => !response.destroyed);
      this.#waiting.delete(workspaceId);
      if (at === -1) continue;
      const next = waiting[at]!;
      waiting.splice(0, at + 1);
      if (waiting.length > 0) this.#waiting.set(workspaceId, waiting);
      return next;
    }
    return undefined;
  }
}
