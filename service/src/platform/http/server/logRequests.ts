import type { Express, Request, Response } from 'express';
import type { Logger } from 'pino';
import { newId } from '../../ids.ts';
import type { Bounds } from '../../limits/bounds.ts';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- how Express lets its requests be given more
  namespace Express {
    interface Request {
      /** The same as in the answer's X-Request-Id. */
      id: string;
      /** Logs errors of this request. Made on first use. */
      readonly log: Logger;
    }
  }
}

/**
 * Gives each request an id and logs each one that fails, or all of them at LOG_LEVEL=debug: never a
 * header, a query or a body. Requests that a bound refuses are not logged, and other refusals only up
 * to a limit a minute: otherwise anybody could fill the disk.
 * @param loggablePath what of a path may be logged
 */
export function logRequests(
  app: Express,
  logger: Logger,
  bounds: Bounds,
  loggablePath: (path: string) => string,
): void {
  const about = ({ id, method, originalUrl }: Request) => ({
    id,
    method,
    path: loggablePath(originalUrl.split('?')[0]!),
  });
  // Most requests log nothing, and a logger for each would cost more than everything else here.
  Object.defineProperty(app.request, 'log', {
    get(this: Request) {
      return logger.child({ req: about(this) });
    },
  });
  const refusals = new Minute();
  app.use((request, response, next) => {
    const startedAt = performance.now();
    request.id = newId('req');
    response.setHeader('X-Request-Id', request.id);
    response.once('close', () => {
      const level = levelOf(response);
      if (!logger.isLevelEnabled(level)) return;
      if (level === 'info' && refusals.add() > MAX_REFUSALS_LOGGED_PER_MINUTE)
        return bounds.reached('log_lines');
      const res = { status: response.statusCode };
      const responseTime = Math.round(performance.now() - startedAt);
      logger[level](
        { req: about(request), res, responseTime },
        response.writableFinished ? 'request completed' : 'request aborted',
      );
    });
    next();
  });
}

/** At most 12 MB an hour, and more than anybody reads. */
export const MAX_REFUSALS_LOGGED_PER_MINUTE = 600;

/** Counts within the current minute. */
class Minute {
  #count = 0;
  #begunAt = -Infinity;

  /** @returns the count of this minute */
  add(): number {
    const now = performance.now();
    if (now - this.#begunAt >= 60_000) [this.#begunAt, this.#count] = [now, 0];
    return (this.#count += 1);
  }
}

const levelOf = ({ statusCode, locals }: Response) =>
  locals.isAtBound ? 'debug' : statusCode >= 500 ? 'error' : statusCode >= 400 ? 'info' : 'debug';
