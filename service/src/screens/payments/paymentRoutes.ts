import { Router, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { listPaymentLinks } from '../../domain/operations/paymentLinks.ts';
import { listPaymentAccounts } from '../../domain/operations/paymentAccounts.ts';
import { parseCursor } from '../../domain/page.ts';
import { paymentPageUrl } from '../../domain/webhookAddress.ts';
import type { PaymentsConfig } from '../../payments/paymentAdapter.ts';
import { formValues } from '../forms.ts';
import { render, renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { linksList, type LinksList } from './linksList.ts';
import { cancelLink, markLinkPaid } from './paymentActions.ts';
import { paymentsPage, providersList } from './paymentsPage.ts';
import { paymentsHref, paymentsViewOf, type PaymentsView } from './paymentsView.ts';
import { providerRouter } from './providerRoutes.ts';

const PAGE_SIZE = 20;

/** `/payments`: the providers, and the links that were made. */
export function paymentScreensRouter(deps: Deps, config: PaymentsConfig): Router {
  const router = Router();
  const accountsOf = (response: Response) =>
    listPaymentAccounts(deps, signedInOf(response).workspace);
  const linksOf = async (response: Response, view: PaymentsView): Promise<LinksList> => {
    const { status, cursor } = view;
    const links = await listPaymentLinks(
      deps,
      signedInOf(response).workspace,
      status === undefined ? {} : { status },
      { limit: PAGE_SIZE, cursor: parseCursor(cursor) },
    );
    return {
      links,
      view,
      now: deps.clock.now(),
      pageUrl: (payment) => paymentPageUrl(deps, payment),
    };
  };

  router.get('/payments', async ({ query }, response) => {
    const page = {
      ...(await linksOf(response, paymentsViewOf(query))),
      accounts: await accountsOf(response),
      notice: query.notice,
    };
    response.type('html').send(renderDocument(paymentsPage(signedInOf(response), page)));
  });

  router.get(
    '/payments/links',
    async ({ query }, response) =>
      void response
        .type('html')
        .send(
          render(linksList(signedInOf(response), await linksOf(response, paymentsViewOf(query)))),
        ),
  );

  router.get(
    '/payments/providers-list',
    async (_request, response) =>
      void response.type('html').send(render(providersList(await accountsOf(response)))),
  );

  router.post('/payments/links/:id/cancel', async ({ params, body }, response) =>
    response.redirect(
      303,
      paymentsHref(paymentsViewOf(formValues(body)), {
        notice: await cancelLink(deps, signedInOf(response), params.id),
      }),
    ),
  );

  router.post('/payments/links/:id/mark-paid', async ({ params, body }, response) => {
    const values = formValues(body);
    response.redirect(
      303,
      paymentsHref(paymentsViewOf(values), {
        notice: await markLinkPaid(deps, signedInOf(response), params.id, values),
      }),
    );
  });

  router.use(providerRouter(deps, config));
  return router;
}
