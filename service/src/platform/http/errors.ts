import type { ErrorRequestHandler, RequestHandler } from 'express';
import { AppError, errorJson, errorWithFix } from './errorCatalogue.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { noteBound } from './server/errorAtBound.ts';

const UNAVAILABLE_RETRY_SECONDS = 2;

/**
 * Answers with an error of the catalogue. For a bug, the answer tells nothing but the request id.
 */
export const handleErrors: ErrorRequestHandler = (thrown: unknown, request, response, _next) => {
  if (response.headersSent) {
    if (!(thrown instanceof StoreUnavailable))
      request.log.error({ err: thrown }, 'an answer failed after it had begun');
    return void response.destroy();
  }
  let error = asAppError(thrown);
  if (!error) {
    request.log.error({ err: thrown }, 'request failed');
    error = errorWithFix('internal', 'Something went wrong in the service.');
  }
  if (error.details.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', error.details.retryAfterSeconds);
  if (error.details.isAtBound) noteBound(response);
  response.status(error.status).json(errorJson(error, request.id));
};

/** Finds the error of the catalogue for what was thrown; null when it is a bug. */
function asAppError(thrown: unknown): AppError | null {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof StoreUnavailable) {
    return errorWithFix('unavailable', 'The service cannot write now.', {
      retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS,
    });
  }
  // Errors of Express itself, and bodies that did not arrive completely.
  const { status } = thrown as { status?: number };
  if (status !== undefined && status >= 400 && status < 500)
    return new AppError(
      'invalid_request',
      'The request could not be read. Check its address, headers and body.',
    );
  return null;
}

/** The answer of a worker to requests that are meant for another process. */
export const refuseOnWorker: RequestHandler = (request) => {
  throw new AppError(
    'not_found',
    `There is nothing at ${addressOf(request)}: this process has ROLE=worker and answers only /healthz, /readyz and /metrics. Send requests to a process with ROLE=api or ROLE=all.`,
  );
};

export const addressOf = ({ method, path }: { method: string; path: string }) =>
  `${method} ${path.slice(0, 200)}`;
