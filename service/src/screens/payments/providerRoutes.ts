import { Router, type Response } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { notFound } from '../../domain/errorCatalogue.ts';
import {
  deletePaymentAccount,
  listPaymentAccounts,
  putPaymentAccount,
} from '../../domain/operations/paymentAccounts.ts';
import type { PaymentAccount } from '../../domain/payment.ts';
import type { SetupValues } from '../../domain/accountSetup.ts';
import { askForTest } from '../../payments/accounts.ts';
import type { PaymentAdapter, PaymentsConfig } from '../../payments/paymentAdapter.ts';
import { PAYMENT_ADAPTERS } from '../../payments/registry.ts';
import { setupFrom, setupProblems } from '../channels/setupForm.ts';
import { formValues, withPlainBreaks, type FormValues } from '../forms.ts';
import { renderDocument } from '../html.ts';
import { signedInOf } from '../session.ts';
import { providerPage, removableSecrets, removeBox, type ProviderPage } from './providerPage.ts';

/** One provider: set up, changed, tested, removed. */
export function providerRouter(deps: Deps, config: PaymentsConfig): Router {
  const router = Router();
  const accountOf = async (
    response: Response,
    { provider }: PaymentAdapter,
  ): Promise<PaymentAccount | null> =>
    (await listPaymentAccounts(deps, signedInOf(response).workspace)).find(
      (account) => account.provider === provider,
    ) ?? null;
  const show = async (
    response: Response,
    status: number,
    adapter: PaymentAdapter,
    more: Partial<ProviderPage> = {},
  ) => {
    const account = await accountOf(response, adapter);
    response
      .status(status)
      .type('html')
      .send(
        renderDocument(
          providerPage(signedInOf(response), {
            adapter,
            account,
            publicUrl: deps.publicUrl(),
            now: deps.clock.now(),
            ...more,
          }),
        ),
      );
  };

  router.get('/payments/providers/:provider', ({ params, query }, response) =>
    show(response, 200, adapterNamed(params.provider), { notice: query.notice }),
  );

  router.post('/payments/providers/:provider', async ({ params, body }, response) => {
    const adapter = adapterNamed(params.provider);
    const values = withPlainBreaks(formValues(body));
    try {
      await putPaymentAccount(
        deps,
        signedInOf(response).workspace,
        adapter.provider,
        valuesFrom(adapter, await accountOf(response, adapter), values),
      );
    } catch (error) {
      const problems = setupProblems(error);
      if (problems === null) throw error;
      return show(response, 400, adapter, { values, problems });
    }
    response.redirect(303, `/payments/providers/${adapter.provider}?notice=saved`);
  });

  router.post('/payments/providers/:provider/test', async ({ params }, response) => {
    const { provider } = adapterNamed(params.provider);
    const { ok } = await askForTest(deps, config, signedInOf(response).workspace, provider);
    response.redirect(
      303,
      `/payments/providers/${provider}?notice=${ok ? 'provider-test-passed' : 'provider-test-failed'}`,
    );
  });

  router.post('/payments/providers/:provider/remove', async ({ params }, response) => {
    await deletePaymentAccount(
      deps,
      signedInOf(response).workspace,
      adapterNamed(params.provider).provider,
    );
    response.redirect(303, '/payments?notice=provider-removed');
  });

  // A form's answer is shown under the form's address: loading that again leads back to the
  // provider.
  router.get('/payments/providers/:provider/:action', ({ params }, response) =>
    response.redirect(303, `/payments/providers/${params.provider}`),
  );

  return router;
}

/**
 * What was filled in; an optional secret whose box is ticked is taken away, unless a new one is
 * given.
 */
function valuesFrom(
  { fields }: PaymentAdapter,
  account: PaymentAccount | null,
  values: FormValues,
): SetupValues {
  const removed = removableSecrets(fields, account).filter(
    ({ name }) => values[removeBox(name)] === 'on',
  );
  return {
    ...Object.fromEntries(removed.map(({ name }) => [name, ''])),
    ...setupFrom(fields, values),
  };
}

/** @throws not_found (404) */
function adapterNamed(provider: string): PaymentAdapter {
  const adapter = PAYMENT_ADAPTERS.find((each) => each.provider === provider);
  if (!adapter) throw notFound('payment provider', provider);
  return adapter;
}
