import type { Deps } from '../domain/deps.ts';
import type { PaymentAccount } from '../domain/payment.ts';
import { openSetup } from '../domain/sealedSetup.ts';
import type { OpenPaymentAccount } from './paymentAdapter.ts';

/** @throws Error for secrets that were sealed with another key */
export const openPaymentAccount = (
  deps: Pick<Deps, 'secrets'>,
  account: PaymentAccount,
): OpenPaymentAccount => ({ account, values: openSetup(deps, account) });
