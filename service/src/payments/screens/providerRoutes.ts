import { Router, type Response } from 'express';
import type { Deps } from '../../platform/deps.ts';
import {
  deletePaymentAccount,
  listPaymentAccounts,
  putPaymentAccount,
} from '../operations/paymentAccounts.ts';
import type { PaymentAccount } from '../payment.ts';
import type { SetupValues } from '../../platform/accounts/accountSetup.ts';
import { testPaymentAccount } from '../accounts.ts';
import type { PaymentAdapter, PaymentsConfig } from '../paymentAdapter.ts';
import { getPaymentAdapter } from '../registry.ts';
import { setupFrom, setupProblems } from '../../platform/html/accountForm.ts';
import { readForm, type FormValues } from '../../platform/html/forms.ts';
import { sendPage } from '../../platform/html/html.ts';
import { signedInOf, workspaceOf } from '../../team/index.ts';
import { providerPage, removableSecrets, removalField, type ProviderPage } from './providerPage.ts';

/** One provider: set up, change, test, remove. */
export function providerRouter(deps: Deps, config: PaymentsConfig): Router {
  const router = Router();
  const findAccount = async (response: Response, { provider }: PaymentAdapter) => {
    const accounts = await listPaymentAccounts(deps, workspaceOf(response));
    return accounts.find((account) => account.provider === provider) ?? null;
  };
  const show = async (
    response: Response,
    status: number,
    adapter: PaymentAdapter,
    extras: Partial<ProviderPage>,
  ) => {
    const account = await findAccount(response, adapter);
    const page = { adapter, account, publicUrl: deps.publicUrl(), now: deps.clock.now() };
    sendPage(response, providerPage(signedInOf(response), { ...page, ...extras }), status);
  };

  router.get('/payments/providers/:provider', ({ params, query }, response) =>
    show(response, 200, getPaymentAdapter(params.provider), { notice: query.notice }),
  );

  router.post('/payments/providers/:provider', async (request, response) => {
    const adapter = getPaymentAdapter(request.params.provider);
    const { provider } = adapter;
    const values = readForm(request);
    try {
      const given = setupValuesFrom(adapter, await findAccount(response, adapter), values);
      await putPaymentAccount(deps, workspaceOf(response), provider, given);
    } catch (error) {
      const problems = setupProblems(error);
      if (problems === null) throw error;
      return show(response, 400, adapter, { form: { values, problems } });
    }
    response.redirect(303, `/payments/providers/${provider}?notice=saved`);
  });

  router.post('/payments/providers/:provider/test', async ({ params }, response) => {
    const { provider } = getPaymentAdapter(params.provider);
    const { ok } = await testPaymentAccount(deps, config, workspaceOf(response), provider);
    const notice = ok ? 'provider-test-passed' : 'provider-test-failed';
    response.redirect(303, `/payments/providers/${provider}?notice=${notice}`);
  });

  router.post('/payments/providers/:provider/remove', async ({ params }, response) => {
    const { provider } = getPaymentAdapter(params.provider);
    await deletePaymentAccount(deps, workspaceOf(response), provider);
    response.redirect(303, '/payments?notice=provider-removed');
  });

  // A page that a POST answered with, such as an error, has the form's address. Opening that address
  // again leads back to the provider.
  router.get('/payments/providers/:provider/:action', ({ params }, response) =>
    response.redirect(303, `/payments/providers/${params.provider}`),
  );

  return router;
}

/** The settings of the form. A ticked secret is removed, unless the form gives a new one. */
function setupValuesFrom(
  { fields }: PaymentAdapter,
  account: PaymentAccount | null,
  values: FormValues,
): SetupValues {
  const removed = removableSecrets(fields, account).filter(
    ({ name }) => values[removalField(name)] === 'on',
  );
  return {
    ...Object.fromEntries(removed.map(({ name }) => [name, ''])),
    ...setupFrom(fields, values),
  };
}
