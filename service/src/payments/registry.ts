import { notFound } from '../platform/http/errorCatalogue.ts';
import type { PaymentProvider } from './payment.ts';
import { manual } from './manual/manual.ts';
import type { PaymentAdapter } from './paymentAdapter.ts';
import { stripe } from './stripe/stripe.ts';

const ADAPTERS: Readonly<Record<PaymentProvider, PaymentAdapter>> = { stripe, manual };

/**
 * Every payment provider, the preferred one first: a link that names none goes to the first that is
 * set up.
 */
export const PAYMENT_ADAPTERS: readonly PaymentAdapter[] = Object.values(ADAPTERS);

export const paymentAdapterOf = (provider: PaymentProvider): PaymentAdapter => ADAPTERS[provider];

/** The adapter that a request names. @throws not_found (404) */
export function getPaymentAdapter(name: string): PaymentAdapter {
  const adapter = PAYMENT_ADAPTERS.find(({ provider }) => provider === name);
  if (!adapter) throw notFound('payment provider', name);
  return adapter;
}
