import type { ConnectionTest } from '../domain/channel.ts';
import type { Deps } from '../domain/deps.ts';
import { testPaymentAccount } from '../domain/operations/paymentAccounts.ts';
import type { PaymentProvider } from '../domain/payment.ts';
import type { Workspace } from '../domain/workspace.ts';
import { openPaymentAccount } from './openPaymentAccount.ts';
import type { PaymentsConfig } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

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
