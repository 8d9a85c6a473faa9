import type { ErrorRequestHandler, Response } from 'express';
import { AppError, ERROR_CATALOGUE, type ErrorCode } from '../http/errorCatalogue.ts';
import { noteBound } from '../http/server/errorAtBound.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { html, sendPage, sendPart } from './html.ts';
import { plainPage, sectionAt, teamPage } from './layout.ts';
import { viewerOf } from './viewer.ts';

/**
 * Answers with a page that says what is wrong. A member keeps the navigation, and where htmx asked
 * for a part of a page, only the message is sent.
 */
export function sendErrorPage(response: Response, status: number, message: string): void {
  const { req: request } = response;
  if (request.get('hx-request') && !request.get('hx-boosted'))
    return sendPart(response.status(status), html`<p class="problem" role="alert">${message}</p>`);
  const title = status === 404 ? 'Not found' : 'Something went wrong';
  const viewer = viewerOf(response);
  const section = viewer === null ? undefined : sectionAt(request.path);
  const content = html`
    <h1>${title}</h1>
    <p role="alert">${message}</p>
    <p>
      <a role="button" class="secondary outline" href=${section?.href ?? '/'}>
        Back to ${section?.label ?? 'the start page'}
      </a>
    </p>
  `;
  const page =
    viewer === null
      ? plainPage(title, content)
      : teamPage(
          viewer,
          { title, section: section?.id },
          html`<div class="empty-page">${content}</div>`,
        );
  sendPage(response, page, status);
}

/** Whether an error has this code of the catalogue. */
export const isError = (error: unknown, code: ErrorCode): error is AppError =>
  error instanceof AppError && error.code === code;

/**
 * Makes an error handler for a page whose subject was just removed: it answers `not_found` by
 * sending the browser to `href`, and rethrows any other error. The status is a 204, since browsers
 * write failures to their console.
 */
export const leaveIfRemoved =
  (response: Response, href: string) =>
  (error: unknown): undefined => {
    if (!isError(error, 'not_found')) throw error;
    response.set('HX-Redirect', href).status(204).end();
  };

/** Sets `Retry-After`, and marks the refusal of a bound, which is not logged. */
export function noteError(response: Response, { details }: AppError): void {
  const { retryAfterSeconds, isAtBound } = details;
  if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
  if (isAtBound) noteBound(response);
}

/** Shows errors as pages. A failure of the service shows only the request's id. */
export const handleScreenErrors: ErrorRequestHandler = (
  error: unknown,
  request,
  response,
  next,
) => {
  if (response.headersSent) return next(error);
  if (error instanceof AppError) {
    noteError(response, error);
    return sendErrorPage(response, error.status, error.message);
  }
  if (error instanceof StoreUnavailable) {
    response.set('Retry-After', '2');
    const message = `The service cannot save changes right now. ${ERROR_CATALOGUE.unavailable.fix}`;
    return sendErrorPage(response, 503, message);
  }
  const { status } = error as { status?: number };
  if (status !== undefined && status >= 400 && status < 500)
    return sendErrorPage(
      response,
      status,
      'This address cannot be read. Check it for a typing error.',
    );
  request.log.error({ err: error }, 'a screen failed');
  sendErrorPage(
    response,
    500,
    `The service failed. Try again. If it happens again, report this id: ${request.id}.`,
  );
};
