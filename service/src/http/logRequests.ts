import type { Express, Request, Response } from 'express';
import type { Logger } from 'pino';
import { newId } from '../domain/ids.ts';
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
 * LOG_LEVEL=debug): never a header, a query or a body. What a bound refused is not told one by one.
 */
export function logRequests(app: Express, logger: Logger): void {
  // Most requests write nothing: making a logger for each would cost more than all else here.
  Object.defineProperty(app.request, 'log', {
    get(this: Request) {
      return logger.child({ req: about(this) });
    },
  });
  app.use((request, response, next) => {
    const startedAt = performance.now();
    request.id = newId('req');
    response.setHeader('X-Request-Id', request.id);
    response.once('close', () => {
      const level = levelOf(response);
      if (!logger.isLevelEnabled(level)) return;
      const res = { status: response.statusCode };
      const responseTime = Math.round(performance.now() - startedAt);
      logger[level]({ req: about(request), res, responseTime }, response.writableFinished ? 'request completed' : 'request aborted');
    });
    next();
  });
}

const levelOf = ({ statusCode, locals }: Response) => (locals.isAtBound ? 'debug' : statusCode >= 500 ? 'error' : statusCode >= 400 ? 'info' : 'debug');

const about = ({ id, method, originalUrl }: Request) => ({ id, method, path: loggablePath(originalUrl.split('?')[0]!) });
