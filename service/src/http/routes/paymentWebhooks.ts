import { Router, type Request } from 'express';
import type { Logger } from 'pino';
import type { Deps } from '../../domain/deps.ts';
import { AppError, ERROR_CATALOGUE, notFound } from '../../domain/errorCatalogue.ts';
import { applyPaymentUpdate } from '../../domain/operations/endPaymentLink.ts';
import { findPaymentAccountAt } from '../../domain/operations/paymentAccounts.ts';
import { openPaymentAccount } from '../../payments/accounts.ts';
import type { OpenPaymentAccount, RemoteProvider } from '../../payments/paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../../payments/registry.ts';
import { noLongerStranger } from '../connections.ts';
import { readBody } from '../readBody.ts';

const MAX_WEBHOOK_BODY_MIB = 1;
const NO_BYTES = Buffer.alloc(0);

/**
 * The webhooks of payment providers: `/payments/{provider}/webhook/{account_id}`. Each request is
 * verified with the secret of its account. The answer is 200 once everything is stored; any other
 * answer makes the provider send it again.
 */
export function paymentWebhooksRouter(deps: Deps, log: Logger): Router {
  const router = Router();
  const address = router.route('/payments/:provider/webhook/:accountId');

  address.post(async (request, response) => {
    const { adapter, account } = await findAccount(deps, request);
    deps.assertRoom('data', account.account.workspaceId);
    // The exact bytes that were signed.
    request.body = await readBody(request, response, {
      maxBytes: MAX_WEBHOOK_BODY_MIB * 1024 * 1024,
    });
    const updates = await adapter.readWebhook(
      { rawBody: bytesOf(request), headers: request.headers },
      account,
    );
    if (updates === null) throw unverified(log, adapter, account);
    noLongerStranger(request);
    const actor = { type: 'api', name: adapter.label } as const;
    for (const update of updates) {
      const about = {
        account: account.account.id,
        payment: update.paymentId.slice(0, 40),
        reference: update.reference.slice(0, 100),
        state: update.state,
      };
      if (await applyPaymentUpdate(deps, account.account, update, actor))
        log.info(about, 'a payment provider reported a payment');
      else
        log.warn(
          about,
          'a payment provider reported a payment that its account does not have here; it was ignored',
        );
    }
    response.json({ received: true });
  });

  address.all((_request, response) => {
    response.setHeader('Allow', 'POST');
    throw new AppError(
      'method_not_allowed',
      `Payment providers send webhooks with POST. ${ERROR_CATALOGUE.method_not_allowed.fix}`,
    );
  });

  return router;
}

interface Addressed {
  readonly adapter: RemoteProvider;
  readonly account: OpenPaymentAccount;
}

/** @throws not_found (404), before a byte of the body is read */
async function findAccount(deps: Deps, { params }: Request): Promise<Addressed> {
  const { provider, accountId } = params as { provider: string; accountId: string };
  const adapter = PAYMENT_ADAPTERS.find((each) => each.provider === provider);
  const account = adapter?.isRemote ? await findPaymentAccountAt(deps, provider, accountId) : null;
  if (!adapter?.isRemote || !account) throw notFound('payment account', accountId);
  return { adapter, account: openPaymentAccount(deps, account) };
}

/** An invalid_request (400), which the provider shows in its dashboard. */
function unverified(
  log: Logger,
  { label }: RemoteProvider,
  { account }: OpenPaymentAccount,
): AppError {
  log.warn(
    { account: account.id },
    'a webhook of a payment provider was refused: its signature is wrong or too old',
  );
  return new AppError(
    'invalid_request',
    `The signature is wrong or too old. Compare the signing secret under Payments with the one that ${label} shows for this address.`,
  );
}

const bytesOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : NO_BYTES);
