import {
  EMPTY_SETUP,
  checkSetup,
  sealSetup,
  type SetupValues,
} from '../../platform/accounts/accountSetup.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { newId } from '../../platform/ids.ts';
import type { PaymentAccount, PaymentProvider } from '../payment.ts';
import { PAYMENT_ADAPTERS, paymentAdapterOf } from '../registry.ts';
import type { Workspace } from '../../team/index.ts';

/** The payment account that a webhook address names, or null. Its workspace is not known yet. */
export const findPaymentAccountAt = (
  { store }: Pick<Deps, 'store'>,
  provider: string,
  id: string,
) =>
  store.transaction(async (tx): Promise<PaymentAccount | null> => {
    const account = await tx.paymentAccounts.peek(id);
    return account?.provider === provider ? account : null;
  });

/** A workspace's account with a provider; null when it is not set up. */
export async function findPaymentAccount(
  tx: Tx,
  workspaceId: string,
  provider: PaymentProvider,
): Promise<PaymentAccount | null> {
  const [account] = await tx.paymentAccounts.find({ where: { workspaceId, provider }, limit: 1 });
  return account ?? null;
}

/** A workspace's payment accounts, that of the preferred provider first. */
export const listPaymentAccounts = ({ store }: Deps, workspace: Workspace) =>
  store.transaction(async (tx): Promise<readonly PaymentAccount[]> => {
    const accounts = [];
    for (const { provider } of PAYMENT_ADAPTERS)
      accounts.push(await findPaymentAccount(tx, workspace.id, provider));
    return accounts.filter((account) => account !== null);
  });

/** @throws not_found (404) when the provider is not set up */
export const getPaymentAccount = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  provider: PaymentProvider,
) => store.transaction((tx) => loadPaymentAccount(tx, workspace, provider));

/**
 * Sets up a provider, or changes its settings. A value that is left out stays as it is, secrets too.
 * The last test is dropped, since it tested the old settings.
 * @param values by the names of the provider's fields. Secrets are sealed before they are stored.
 * @throws invalid_request (400) with param `settings.<name>`
 */
export const putPaymentAccount = (
  { store, clock, secrets }: Deps,
  workspace: Workspace,
  provider: PaymentProvider,
  values: SetupValues,
) =>
  store.transaction(async (tx): Promise<PaymentAccount> => {
    await tx.workspaces.get(workspace.id); // locks the workspace: a provider has one account
    const at = timestamp(clock.now());
    const before = await findPaymentAccount(tx, workspace.id, provider);
    const { fields } = paymentAdapterOf(provider);
    const checked = checkSetup(fields, values, { isNew: before === null });
    const account: PaymentAccount = {
      id: before?.id ?? newId('pac'),
      workspaceId: workspace.id,
      provider,
      ...sealSetup({ secrets }, before ?? EMPTY_SETUP, checked),
      lastTest: null,
      createdAt: before?.createdAt ?? at,
      updatedAt: at,
    };
    await tx.paymentAccounts.put(account);
    return account;
  });

/**
 * Removes a workspace's account with a provider. The provider's payment links stay as they are.
 * @throws not_found (404)
 */
export const deletePaymentAccount = (
  { store }: Deps,
  workspace: Workspace,
  provider: PaymentProvider,
) =>
  store.transaction(async (tx): Promise<void> => {
    const { id } = await loadPaymentAccount(tx, workspace, provider);
    await tx.paymentAccounts.delete(id);
  });

async function loadPaymentAccount(
  tx: Tx,
  workspace: Workspace,
  provider: PaymentProvider,
): Promise<PaymentAccount> {
  const account = await findPaymentAccount(tx, workspace.id, provider);
  if (!account) throw notFound('payment account', provider);
  return account;
}
