import type { Deps } from '../platform/deps.ts';
import { getPaymentAccount } from './operations/paymentAccounts.ts';
import { testConnection } from '../platform/accounts/testConnection.ts';
import type { PaymentAccount, PaymentProvider } from './payment.ts';
import { openSetup, type ConnectionTest } from '../platform/accounts/accountSetup.ts';
import type { Workspace } from '../team/index.ts';
import type { OpenPaymentAccount, PaymentsConfig } from './paymentAdapter.ts';
import { paymentAdapterOf } from './registry.ts';

/** Decrypts an account's secrets. @throws Error when they were sealed with another key */
export const openPaymentAccount = (
  deps: Pick<Deps, 'secrets'>,
  account: PaymentAccount,
): OpenPaymentAccount => ({ account, values: openSetup(deps, account) });

/** The adapter's own time-out comes first: its error says in words that no answer came. */
const TEST_MARGIN_MS = 5000;

/**
 * Asks a provider whether it accepts the account's keys, and records the result. A provider without
 * an API passes the test, with a message that says so.
 * @throws not_found (404) when the workspace has no account with this provider
 */
export async function testPaymentAccount(
  deps: Deps,
  config: PaymentsConfig,
  workspace: Workspace,
  provider: PaymentProvider,
): Promise<ConnectionTest> {
  const account = await getPaymentAccount(deps, workspace, provider);
  const adapter = paymentAdapterOf(provider);
  return testConnection(
    deps,
    account,
    (tx) => tx.paymentAccounts,
    async (values) =>
      adapter.isRemote
        ? adapter.test(
            { account, values },
            {
              config,
              pageUrl: deps.publicUrl(),
              signal: AbortSignal.timeout(config.timeoutMs + TEST_MARGIN_MS),
            },
          )
        : NOTHING_TO_REACH,
  );
}

const NOTHING_TO_REACH = {
  ok: true,
  message:
    'There is nothing to reach: customers read the instructions, and your team marks what was paid.',
};
