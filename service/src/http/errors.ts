import type { ErrorRequestHandler, RequestHandler } from 'express';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { noteBound } from './atBound.ts';
import { operationsAt } from './contract/match.ts';

/** The form of every error. @see design section 3, Errors */
export const errorJson = ({ code, message, details }: AppError, requestId: string) => ({
  error: {
    code,
    message,
    ...(details.param === undefined ? {} : { param: details.param }),
    ...(details.existingId === undefined ? {} : { existing_id: details.existingId }),
    request_id: requestId,
  },
});

const UNAVAILABLE_RETRY_SECONDS = 2;

/** Turns whatever was thrown into an error of the catalogue; null when it is a fault of ours. */
function asAppError(error: unknown): AppError | null {
  if (error instanceof AppError) return error;
  if (error instanceof StoreUnavailable) {
    return new AppError(
      'unavailable',
      `The service cannot write now. ${ERROR_CATALOGUE.unavailable.fix}`,
      { retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS },
    );
  }
  // Errors of express, and of bodies that broke off.
  const { status } = error as { status?: number };
  if (status !== undefined && status >= 400 && status < 500)
    return new AppError(
      'invalid_request',
      'The request cannot be read. Check its address, headers and body.',
    );
  return null;
}

/** Answers errors; of a fault of ours only the request id leaves the process. */
export const handleErrors: ErrorRequestHandler = (error: unknown, request, response, _next) => {
  if (response.headersSent) {
    if (!(error instanceof StoreUnavailable))
      request.log.error({ err: error }, 'an answer broke off');
    return void response.destroy();
  }
  let known = asAppError(error);
  if (!known) {
    request.log.error({ err: error }, 'request failed');
    known = new AppError(
      'internal',
      `Something went wrong in the service. ${ERROR_CATALOGUE.internal.fix}`,
    );
  }
  if (known.details.retryAfterSeconds !== undefined)
    response.setHeader('Retry-After', known.details.retryAfterSeconds);
  if (known.details.isAtBound) noteBound(response);
  response.status(known.status).json(errorJson(known, request.id));
};

/** What a worker says to whoever takes it for another process. */
export const refuseOnWorker: RequestHandler = (request) => {
  throw new AppError(
    'not_found',
    `There is nothing at ${request.method} ${request.path.slice(0, 200)}: this process has ROLE=worker, and beside /healthz, /readyz and /metrics it answers nothing. Send requests to a process with ROLE=api or all.`,
  );
};

/** What no route took: a known address with another method is 405, the rest 404. */
export const refuseUnknown: RequestHandler = (request, response) => {
  const methods = operationsAt(request.path).map(({ method }) => method.toUpperCase());
  if (methods.length === 0) {
    throw new AppError(
      'not_found',
      `There is nothing at ${request.method} ${request.path.slice(0, 200)}. See /api/docs for what there is.`,
    );
  }
  response.setHeader('Allow', [...new Set(methods)].join(', '));
  throw new AppError(
    'method_not_allowed',
    `${request.method} is not possible here. ${ERROR_CATALOGUE.method_not_allowed.fix}`,
  );
};
