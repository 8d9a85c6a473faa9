import type { Response } from 'express';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import type { BoundName, Bounds } from '../limits/bounds.ts';

/**
 * The error of a request that a bound refuses: 429, or 503 where it is not the caller's own doing.
 * Counts it, so that the log need not tell of each.
 * @param words what happened; what to do follows
 */
export function atBound(
  bounds: Bounds,
  bound: BoundName,
  words: string,
  {
    code = 'rate_limited',
    retryAfterMs,
  }: { code?: 'rate_limited' | 'unavailable'; retryAfterMs: number },
): AppError {
  bounds.reached(bound);
  const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new AppError(code, `${words} ${ERROR_CATALOGUE[code].fix}`, {
    retryAfterSeconds,
    isAtBound: true,
  });
}

/**
 * What goes with an answer at a bound: the log need not tell of each, and the connection ends. One
 * new connection is accepted in a round of the event loop, which serves all that are open and busy:
 * behind 400 of those a new one waited for 10 seconds.
 */
export function noteBound(response: Response): void {
  response.locals.isAtBound = true;
  response.set('Connection', 'close');
}
