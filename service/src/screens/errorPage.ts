import type { ErrorRequestHandler, Response } from 'express';
import { AppError, ERROR_CATALOGUE } from '../domain/errorCatalogue.ts';
import { StoreUnavailable } from '../store/store.ts';
import { noteBound } from '../http/atBound.ts';
import { plainPage } from './layout.ts';
import { html, renderDocument } from './html.ts';

/** Answers with a page that says what was wrong. */
export function refusePage(response: Response, status: number, message: string): void {
  response
    .status(status)
    .type('html')
    .send(
      renderDocument(
        plainPage(
          'That did not work',
          html`<h1>That did not work</h1><p role="alert">${message}</p><p><a href="/">Back to the start</a></p>`,
        ),
      ),
    );
}

/** What an error says beside its page: when to try again, and that the log need not tell of it. */
export function noteError(response: Response, { details }: AppError): void {
  const { retryAfterSeconds, isAtBound } = details;
  if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
  if (isAtBound) noteBound(response);
}

/** The screens' errors, as pages. Of a fault of ours only the request's id is shown. */
export const handleScreenErrors: ErrorRequestHandler = (
  error: unknown,
  request,
  response,
  next,
) => {
  if (response.headersSent) return next(error);
  if (error instanceof AppError) {
    noteError(response, error);
    return refusePage(response, error.status, error.message);
  }
  if (error instanceof StoreUnavailable) {
    response.set('Retry-After', '2');
    return refusePage(
      response,
      503,
      `The service cannot write now. ${ERROR_CATALOGUE.unavailable.fix}`,
    );
  }
  const { status } = error as { status?: number };
  if (status !== undefined && status >= 400 && status < 500)
    return refusePage(response, status, 'The form cannot be read. Load the page again.');
  request.log.error({ err: error }, 'a screen failed');
  refusePage(
    response,
    500,
    `Something went wrong in the service. Try again; if it stays, report ${request.id}.`,
  );
};
