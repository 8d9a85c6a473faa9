import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { findPaymentPage } from '../operations/paymentLinks.ts';
import { isPayable, type Payment } from '../payment.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { sendPage } from '../../platform/html/html.ts';
import { pageHeaders } from '../../platform/http/server/securityHeaders.ts';
import { noticePage, payPage } from './payPage.ts';

const TOKEN = /^[A-Za-z0-9_-]{32}$/;
const RELOAD_SECONDS = 3;
/** After so many reloads, the customer is asked to reload the page themselves. */
const MAX_RELOADS = 20;

/**
 * `/pay/{token}`: the page that a customer opens to pay. Until they have paid, it redirects to the
 * provider's page. The provider sends them back to `?from=provider`, which shows the payment's
 * status.
 * @param limit the rate limit of the caller's address
 */
export function payRouter(deps: Deps, limit: RequestHandler): Router {
  const router = Router();

  router.get('/pay/:token', pageHeaders(), noIndex, limit, async (request, response) => {
    const { token } = request.params as { token: string };
    const isBack = request.query.from === 'provider';
    const page = TOKEN.test(token) ? await findPaymentPage(deps, token, { isBack }) : null;
    if (!page) return sendPage(response, noSuchLinkPage, 404);
    const { payment } = page;
    const now = deps.clock.now();
    if (!isBack && canPayAtProvider(payment, now))
      return response.redirect(303, payment.providerUrl);
    const reload = nextReload(payment, token, isBack, reloadCountFrom(request.query.reload));
    sendPage(response, payPage(page, { now, reload }));
  });

  router.use('/pay', showErrorPage);
  return router;
}

const canPayAtProvider = (
  payment: Payment,
  now: Date,
): payment is Payment & { readonly providerUrl: string } =>
  payment.providerUrl !== null && isPayable(payment, now);

/** While the status is about to change, the page reloads, up to `MAX_RELOADS` times. */
function nextReload(
  { status, providerUrl, confirmingSince }: Payment,
  token: string,
  isBack: boolean,
  reloads: number,
) {
  const isOpenAtProvider =
    status === 'open' && providerUrl !== null && confirmingSince === undefined;
  const changesSoon = status === 'creating' || (isOpenAtProvider && isBack);
  if (!changesSoon || reloads >= MAX_RELOADS) return null;
  const query = new URLSearchParams({
    ...(isBack ? { from: 'provider' } : {}),
    reload: String(reloads + 1),
  });
  return { seconds: RELOAD_SECONDS, href: `/pay/${token}?${query}` };
}

const reloadCountFrom = (text: unknown): number =>
  typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : 0;

const noIndex = (_request: unknown, response: Response, next: () => void): void => {
  response.set('X-Robots-Tag', 'noindex');
  next();
};

const noSuchLinkPage = noticePage(
  'There is nothing to pay here',
  'Check the link, or ask the person who gave it to you.',
);
const tooOftenPage = noticePage(
  'One moment, please',
  'This page was loaded too often. Wait a minute, then reload it.',
);
const unavailablePage = noticePage(
  'One moment, please',
  'This page is not available right now. Reload it in a while.',
);

/** Shows errors as pages that a customer understands. */
const showErrorPage: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof AppError && error.code === 'rate_limited') {
    response.set('Retry-After', String(error.details.retryAfterSeconds ?? 60));
    return sendPage(response, tooOftenPage, 429);
  }
  if (error instanceof StoreUnavailable) {
    response.set('Retry-After', '2');
    return sendPage(response, unavailablePage, 503);
  }
  next(error);
};
