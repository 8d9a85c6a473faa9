import type { ConnectionTest } from '../domain/channel.ts';
import type { Deps } from '../domain/deps.ts';
import { testPaymentAccount } from '../domain/operations/paymentAccounts.ts';
import type { PaymentAccount, PaymentProvider } from '../domain/payment.ts';
import { openSetup } from '../domain/accountSetup.ts';
import type { Workspace } from '../domain/workspace.ts';
import type { OpenPaymentAccount, PaymentsConfig } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

/** @throws Error for secrets that were sealed with another key */
export const openPaymentAccount = (
  deps: Pick<Deps, 'secrets'>,
  account: PaymentAccount,
): OpenPaymentAccount => ({ account, values: openSetup(deps, account) });

/**
 * The Test connection of a payment provider: asks whether it takes the account's keys. Where there
 * is nothing to reach, the test says so and is passed.
 * @throws not_found (404) when it is not set up
 */
export const askForTest = (
  deps: Deps,
  config: PaymentsConfig,
  workspace: Workspace,
  provider: PaymentProvider,
): Promise<ConnectionTest> =>
  testPaymentAccount(deps, workspace, provider, async (account) => {
    const adapter = paymentAdapterOf(provider);
    if (!adapter.isRemote)
      return {
        ok: true,
        message:
          'There is nothing to reach: customers read the instructions, and your team marks what was paid.',
      };
    return adapter.test(openPaymentAccount(deps, account), {
      config,
      pageUrl: deps.publicUrl(),
      signal: AbortSignal.timeout(config.timeoutMs),
    });
  });
