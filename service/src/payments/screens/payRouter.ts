import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { findPaymentPage } from '../operations/paymentLinks.ts';
import { isOver, type Payment } from '../payment.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { sendPage } from '../../platform/html/html.ts';
import { securityHeaders } from '../../platform/http/server/securityHeaders.ts';
import { noticePage, payPage } from './payPage.ts';

const TOKEN = /^[A-Za-z0-9_-]{32}$/;
const RELOAD_SECONDS = 3;
/** After that, the customer is asked to reload the page. */
const RELOADS = 20;

/**
 * `/pay/{token}`: what a customer opens to pay. A provider's page opens at once, until the customer
 * has paid there. `?from=provider`, where the provider leads back to, shows the payment's status.
 * @param limit how many pages an address can load
 */
export function payRouter(deps: Deps, limit: RequestHandler): Router {
  const router = Router();

  router.get('/pay/:token', securityHeaders(), noIndex, limit, async (request, response) => {
    const { token } = request.params as { token: string };
    const isBack = request.query.from === 'provider';
    const shown = TOKEN.test(token) ? await findPaymentPage(deps, token, { isBack }) : null;
    if (!shown) return sendPage(response, noSuchLinkPage, 404);
    const { payment } = shown;
    const now = deps.clock.now();
    if (!isBack && isPayable(payment, now)) return response.redirect(303, payment.providerUrl);
    const reload = reloadOf(payment, token, isBack, reloadsOf(request.query.reload));
    sendPage(response, payPage(shown, { now, isBack, reload }));
  });

  router.use('/pay', showTrouble);
  return router;
}

/** Whether the customer can pay on the provider's page. */
const isPayable = (
  payment: Payment,
  now: Date,
): payment is Payment & { readonly providerUrl: string } =>
  payment.status === 'open' &&
  payment.providerUrl !== null &&
  payment.confirmingSince === undefined &&
  !isOver(payment, now);

/** A status that is about to change reloads a few times. */
function reloadOf(
  { status, providerUrl }: Payment,
  token: string,
  isBack: boolean,
  reloads: number,
) {
  const isAwaited = status === 'creating' || (status === 'open' && providerUrl !== null && isBack);
  if (!isAwaited || reloads >= RELOADS) return null;
  const query = new URLSearchParams({
    ...(isBack ? { from: 'provider' } : {}),
    reload: String(reloads + 1),
  });
  return { seconds: RELOAD_SECONDS, href: `/pay/${token}?${query}` };
}

const reloadsOf = (text: unknown): number =>
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

/** Tells customers about errors in their own terms. */
const showTrouble: ErrorRequestHandler = (error: unknown, _request, response, next) => {
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
