import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { AppError } from '../../domain/errorCatalogue.ts';
import { findPaymentPage } from '../../domain/operations/findPaymentPage.ts';
import type { Payment } from '../../domain/payment.ts';
import { isOver } from '../../domain/paymentRules.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { renderDocument, type View } from '../html.ts';
import { securityHeaders } from '../securityHeaders.ts';
import { noticePage, payPage } from './payPage.ts';

const TOKEN = /^[A-Za-z0-9_-]{32}$/;
const RELOAD_SECONDS = 3;
/** Then the customer is asked to load the page themselves. */
const RELOADS = 20;

/**
 * What a customer opens to pay: `/pay/{token}`. Public. Where a provider takes the money, it leads
 * straight there until they have finished; `?from=provider`, where the provider leads back to,
 * shows how the payment stands.
 * @param limit lets each address load so many
 */
export function payRouter(deps: Deps, limit: RequestHandler): Router {
  const router = Router();

  router.get('/pay/:token', securityHeaders(), noIndex, limit, async (request, response) => {
    const { token } = request.params as { token: string };
    const isBack = request.query.from === 'provider';
    const shown = TOKEN.test(token) ? await findPaymentPage(deps, token, { isBack }) : null;
    if (!shown)
      return send(
        response,
        404,
        noticePage(
          'There is nothing to pay here',
          'Check the address, or ask the person who gave it to you.',
        ),
      );
    const { payment } = shown;
    const now = deps.clock.now();
    if (!isBack && isPayable(payment, now)) return response.redirect(303, payment.providerUrl);
    send(
      response,
      200,
      payPage(shown, {
        now,
        isBack,
        reload: reloadOf(payment, token, isBack, reloadsOf(request.query.reload)),
      }),
    );
  });

  router.use('/pay', showTrouble);
  return router;
}

/** True where the provider still takes the money on its page. */
const isPayable = (
  payment: Payment,
  now: Date,
): payment is Payment & { readonly providerUrl: string } =>
  payment.status === 'open' &&
  payment.providerUrl !== null &&
  payment.confirmingSince === undefined &&
  !isOver(payment, now);

/** What is about to change is loaded again, a few times. */
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

const send = (response: Response, status: number, view: View): void =>
  void response.status(status).type('html').send(renderDocument(view));

/** A customer is told in words of theirs. */
const showTrouble: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof AppError && error.code === 'rate_limited') {
    response.set('Retry-After', String(error.details.retryAfterSeconds ?? 60));
    return send(
      response,
      429,
      noticePage(
        'One moment, please',
        'This page was loaded very often. Wait a minute, then load it again.',
      ),
    );
  }
  if (error instanceof StoreUnavailable) {
    response.set('Retry-After', '2');
    return send(
      response,
      503,
      noticePage('One moment, please', 'This page cannot be shown now. Load it again in a while.'),
    );
  }
  next(error);
};
