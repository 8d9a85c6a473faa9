import type { Tx } from '../collections.ts';
import type { PaymentAccount, PaymentProvider } from '../payment.ts';

/** A workspace's account with a provider; null when it is not set up. */
export async function findPaymentAccount(
  tx: Tx,
  workspaceId: string,
  provider: PaymentProvider,
): Promise<PaymentAccount | null> {
  const [account] = await tx.paymentAccounts.find({ where: { workspaceId, provider }, limit: 1 });
  return account ?? null;
}
