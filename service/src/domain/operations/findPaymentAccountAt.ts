import type { Deps } from '../deps.ts';
import type { PaymentAccount } from '../payment.ts';

/**
 * The payment account that an inbound address names, whose workspace is not known yet; null when
 * there is none.
 */
export const findPaymentAccountAt = (
  { store }: Pick<Deps, 'store'>,
  provider: string,
  id: string,
) =>
  store.transaction(async (tx): Promise<PaymentAccount | null> => {
    const account = await tx.paymentAccounts.peek(id);
    return account?.provider === provider ? account : null;
  });
