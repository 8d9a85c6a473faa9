import type { Response } from 'express';
import { errorWithFix, type AppError } from '../errorCatalogue.ts';
import type { BoundName, Bounds } from '../../limits/bounds.ts';

/**
 * Makes the error for a request that a bound refuses: 429, or 503 when the caller is not the cause.
 * The refusal is counted, and not logged for each request.
 * @param words what happened; the error adds what to do
 */
export function errorAtBound(
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
  return errorWithFix(code, words, {
    retryAfterSeconds,
    isAtBound: true,
  });
}

/**
 * Marks the answer to a request that a bound refused, so that it is logged at debug level only. Also
 * ends the connection, because busy connections hold up new ones: each round of the event loop serves
 * all busy ones but accepts only one. With 400 busy connections, a new one waited for 10 seconds.
 */
export function noteBound(response: Response): void {
  response.locals.isAtBound = true;
  response.set('Connection', 'close');
}
