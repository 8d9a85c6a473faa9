import type { Express, Request, Response } from 'express';
import { pino, type Logger } from 'pino';
import { newId } from '../../ids.ts';
import type { Bounds } from '../../limits/bounds.ts';

declare global {
  // eslint-disable-next-line @typescript-eslint/no-namespace -- how fields are added to Express's requests
  namespace Express {
    interface Request {
      /** The same as in the answer's X-Request-Id. */
      id: string;
      /** Logs why this request failed or was refused. Silent beyond MAX_LINES_PER_MINUTE. */
      readonly log: Logger;
    }
  }
}

/**
 * Gives each request an id and logs those that fail or are refused, but never a header, a query or
 * a body. So that nobody can fill the disk, only a limited number of lines is logged each minute,
 * and none for requests that a bound refuses. LOG_LEVEL=debug logs those and the successful ones
 * too, without a limit.
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
  const written = {
    info: new MinuteCounter(),
    error: new MinuteCounter(),
    cause: new MinuteCounter(),
  };
  const mayWrite = (kind: keyof typeof written): boolean => {
    const isWithin = written[kind].add() <= MAX_LINES_PER_MINUTE;
    if (!isWithin) bounds.reached('log_lines');
    return isWithin;
  };
  // Most requests log nothing, and a logger for each would cost more than everything else here.
  Object.defineProperty(app.request, 'log', {
    get(this: Request) {
      const isWritten = logger.isLevelEnabled('error') && mayWrite('cause');
      return isWritten ? logger.child({ req: about(this) }) : SILENT;
    },
  });
  app.use((request, response, next) => {
    const startedAt = performance.now();
    request.id = newId('req');
    response.setHeader('X-Request-Id', request.id);
    response.once('close', () => {
      const level = levelOf(response);
      if (!logger.isLevelEnabled(level)) return;
      if (level !== 'debug' && !mayWrite(level)) return;
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

/**
 * Refusals, failures and the causes of failures each have this limit. It is more than anybody
 * reads, and refusals take at most 12 MB an hour.
 */
export const MAX_LINES_PER_MINUTE = 600;

const SILENT = pino({ level: 'silent' });

/** Counts within the current minute. */
class MinuteCounter {
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
