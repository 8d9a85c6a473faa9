import type { Express, Request, Response } from 'express';
import type { Logger } from 'pino';
import { newId } from '../domain/ids.ts';
import type { Bounds } from '../limits/bounds.ts';
import { loggablePath } from './contract/match.ts';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- how Express lets its requests be given more
  namespace Express {
    interface Request {
      /** Also in the answer's X-Request-Id. */
      id: string;
      /** Where what goes wrong with this request is written; made when it is asked for. */
      readonly log: Logger;
    }
  }
}

/**
 * Gives each request its id, and writes one line for each that failed (for all of them at
 * LOG_LEVEL=debug): never a header, a query or a body. What a bound refused is not told one by one,
 * and of what was refused otherwise so much a minute: anybody may ask for what is not there, and
 * fill the disk.
 */
export function logRequests(app: Express, logger: Logger, bounds: Bounds): void {
  // Most requests write nothing: making a logger for each would cost more than all else here.
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

/** A minute: 12 MB an hour at most, and more than anybody reads. */
export const MAX_REFUSALS_LOGGED_PER_MINUTE = 600;

/** Counts what happens in a minute. */
class Minute {
  #count = 0;
  #begunAt = -Infinity;

  /** @returns how many there are in this minute */
  add(): number {
    const now = performance.now();
    if (now - this.#begunAt >= 60_000) [this.#begunAt, this.#count] = [now, 0];
    return (this.#count += 1);
  }
}

const levelOf = ({ statusCode, locals }: Response) =>
  locals.isAtBound ? 'debug' : statusCode >= 500 ? 'error' : statusCode >= 400 ? 'info' : 'debug';

const about = ({ id, method, originalUrl }: Request) => ({
  id,
  method,
  path: loggablePath(originalUrl.split('?')[0]!),
});
