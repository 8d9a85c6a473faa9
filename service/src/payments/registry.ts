import type { PaymentDirectory, PaymentProvider } from './payment.ts';
import { manual } from './manual/manual.ts';
import type { PaymentAdapter } from './paymentAdapter.ts';
import { stripe } from './stripe/stripe.ts';

/**
 * Every payment provider, the preferred one first: a link that names none goes to the first that is
 * set up.
 */
export const PAYMENT_ADAPTERS: readonly PaymentAdapter[] = [stripe, manual];

/** @throws Error for one that is not registered */
export function paymentAdapterOf(provider: PaymentProvider): PaymentAdapter {
  const adapter = PAYMENT_ADAPTERS.find((each) => each.provider === provider);
  if (!adapter) throw new Error(`there is no payment provider ${provider}`);
  return adapter;
}

export const paymentDirectory: PaymentDirectory = {
  providers: PAYMENT_ADAPTERS.map(({ provider }) => provider),
  rulesOf: (provider) => paymentAdapterOf(provider).rules,
  fieldsOf: (provider) => paymentAdapterOf(provider).fields,
};
