import { Router } from 'express';
import type { Deps } from '../platform/deps.ts';
import { errorWithFix } from '../platform/http/errorCatalogue.ts';
import { cancelPaymentLink, markPaymentPaid } from './operations/endPaymentLink.ts';
import { createPaymentLink } from './operations/createPaymentLink.ts';
import { getPaymentLink, listPaymentLinks, type PaymentView } from './operations/paymentLinks.ts';
import {
  deletePaymentAccount,
  listPaymentAccounts,
  putPaymentAccount,
} from './operations/paymentAccounts.ts';
import { paymentPageUrl } from './payment.ts';
import { testPaymentAccount } from './accounts.ts';
import type { PaymentsConfig } from './paymentAdapter.ts';
import { getPaymentAdapter } from './registry.ts';
import * as contract from './contract.ts';
import { definedOnly } from '../platform/json.ts';
import { pageFrom, pageJson } from '../platform/http/page.ts';
import type { FollowPayment } from './followPayments.ts';
import { serve } from '../platform/http/serve.ts';
import { paymentAccountJson, paymentLinkJson } from './views.ts';

/** How long the answer to a new link waits for its provider; after that its status is `creating`. */
const CREATING_MS = 15_000;

/** Payment links and the providers that take the money. @see docs/payments.md */
export function paymentsRouter(
  deps: Deps,
  config: PaymentsConfig,
  followPayment: FollowPayment,
): Router {
  const router = Router();
  const linkJson = ({ payment, contact }: PaymentView) =>
    paymentLinkJson(payment, contact, paymentPageUrl(deps, payment));

  serve(
    router,
    deps,
    contract.createPaymentLink,
    async ({ deps, caller, params, body }) => {
      const { expires_in: expiresInSeconds, ...rest } = body;
      return linkJson(
        await createPaymentLink(
          deps,
          caller.workspace,
          params.id!,
          { ...rest, expiresInSeconds },
          caller.actor,
        ),
      );
    },
    // Runs after the link is stored: the answer waits for the provider's page. To a repeat, the link
    // is shown as it stands now.
    async ({ id, status }, { workspace }) => {
      if (status === 'creating') await followPayment(workspace, id, CREATING_MS);
      const view = await getPaymentLink(deps, workspace, id);
      const { payment } = view;
      if (payment.status === 'failed' && payment.providerUrl === null)
        throw refused(id, payment.error);
      return linkJson(view);
    },
  );

  serve(router, deps, contract.listPaymentLinks, async ({ deps, caller, query }) => {
    const { status, conversation_id: conversationId } = query;
    const filter = definedOnly({ status, conversationId });
    return pageJson(
      await listPaymentLinks(deps, caller.workspace, filter, pageFrom(query)),
      linkJson,
    );
  });

  serve(router, deps, contract.getPaymentLink, async ({ deps, caller, params }) =>
    linkJson(await getPaymentLink(deps, caller.workspace, params.id!)),
  );

  serve(router, deps, contract.cancelPaymentLink, async ({ deps, caller, params }) =>
    linkJson(await cancelPaymentLink(deps, caller.workspace, params.id!)),
  );

  serve(router, deps, contract.markPaymentPaid, async ({ deps, caller, params, body }) =>
    linkJson(
      await markPaymentPaid(deps, caller.workspace, params.id!, {
        reference: body.reference ?? null,
        actor: caller.actor,
      }),
    ),
  );

  addAccounts(router, deps, config);
  return router;
}

function addAccounts(router: Router, deps: Deps, config: PaymentsConfig): void {
  serve(router, deps, contract.listPaymentAccounts, async ({ deps, caller }) => {
    const accounts = await listPaymentAccounts(deps, caller.workspace);
    return {
      data: accounts.map((account) => paymentAccountJson(account, deps.publicUrl())),
      next_cursor: null,
    };
  });

  serve(router, deps, contract.putPaymentAccount, async ({ deps, caller, params, body }) =>
    paymentAccountJson(
      await putPaymentAccount(
        deps,
        caller.workspace,
        getPaymentAdapter(params.provider!).provider,
        body.settings,
      ),
      deps.publicUrl(),
    ),
  );

  serve(router, deps, contract.deletePaymentAccount, async ({ deps, caller, params }) => {
    const { provider } = getPaymentAdapter(params.provider!);
    await deletePaymentAccount(deps, caller.workspace, provider);
    return { id: provider, deleted: true as const };
  });

  serve(router, deps, contract.testPaymentAccount, async ({ deps, caller, params }) =>
    testPaymentAccount(
      deps,
      config,
      caller.workspace,
      getPaymentAdapter(params.provider!).provider,
    ),
  );
}

/** The link stays on record with the status `failed`. */
const refused = (id: string, error: string | null) =>
  errorWithFix(
    'payment_refused',
    `The payment provider refused to create the page for ${id}: ${error ?? 'it gave no reason'}`,
  );
