import { type Response, Router } from 'express';
import type { Deps } from '../../platform/deps.ts';
import { listPaymentLinks } from '../operations/paymentLinks.ts';
import { listPaymentAccounts } from '../operations/paymentAccounts.ts';
import { definedOnly } from '../../platform/json.ts';
import { parseCursor } from '../../platform/http/page.ts';
import { type Payment, paymentPageUrl } from '../payment.ts';
import type { PaymentsConfig } from '../paymentAdapter.ts';
import { readForm } from '../../platform/html/forms.ts';
import { sendPage, sendPart } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import {
  linksList,
  type LinksPage,
  paymentsHref,
  paymentsPage,
  type PaymentsView,
  paymentsViewFrom,
  providersList,
} from './paymentsPage.ts';
import { cancelLink, markLinkPaid } from './paymentActions.ts';
import { providerRouter } from './providerRoutes.ts';

const PAGE_SIZE = 20;

/** `/payments`: the providers and the payment links. */
export function paymentScreensRouter(deps: Deps, config: PaymentsConfig): Router {
  const router = Router();
  const listAccounts = (response: Response) => listPaymentAccounts(deps, workspaceOf(response));
  const readLinks = async (response: Response, view: PaymentsView): Promise<LinksPage> => {
    const page = { limit: PAGE_SIZE, cursor: parseCursor(view.cursor) };
    const links = await listPaymentLinks(
      deps,
      workspaceOf(response),
      definedOnly({ status: view.status }),
      page,
    );
    const pageUrl = (payment: Payment) => paymentPageUrl(deps, payment);
    return { links, view, now: deps.clock.now(), pageUrl };
  };

  router.get('/payments', async ({ query }, response) => {
    const links = await readLinks(response, paymentsViewFrom(query));
    const accounts = await listAccounts(response);
    const page = { ...links, accounts, notice: query.notice };
    sendPage(response, paymentsPage(signedInOf(response), page));
  });

  router.get('/payments/links', async ({ query }, response) => {
    const links = await readLinks(response, paymentsViewFrom(query));
    sendPart(response, linksList(signedInOf(response), links));
  });

  router.get('/payments/providers-list', async (_request, response) =>
    sendPart(response, providersList(signedInOf(response), await listAccounts(response))),
  );

  router.post('/payments/links/:id/cancel', async (request, response) => {
    const notice = await cancelLink(deps, signedInOf(response), request.params.id);
    response.redirect(303, paymentsHref(paymentsViewFrom(readForm(request)), { notice }));
  });

  router.post('/payments/links/:id/mark-paid', async (request, response) => {
    const values = readForm(request);
    const notice = await markLinkPaid(deps, signedInOf(response), request.params.id, values);
    response.redirect(303, paymentsHref(paymentsViewFrom(values), { notice }));
  });

  router.use(providerRouter(deps, config));
  return router;
}
