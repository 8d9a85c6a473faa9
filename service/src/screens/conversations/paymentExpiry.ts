import type { PaymentProvider } from '../../domain/payment.ts';
import { paymentAdapterOf } from '../../payments/registry.ts';

/** How long a link may be open, as the form offers it. */

const HOUR_S = 60 * 60;
const DAY_S = 24 * HOUR_S;

const EXPIRIES = [
  { seconds: HOUR_S, label: '1 hour' },
  { seconds: 6 * HOUR_S, label: '6 hours' },
  { seconds: 12 * HOUR_S, label: '12 hours' },
  { seconds: DAY_S, label: '24 hours' },
  { seconds: 3 * DAY_S, label: '3 days' },
  { seconds: 7 * DAY_S, label: '7 days' },
  { seconds: 14 * DAY_S, label: '14 days' },
  { seconds: 30 * DAY_S, label: '30 days' },
  { seconds: 90 * DAY_S, label: '90 days' },
  { seconds: 365 * DAY_S, label: '1 year' },
] as const;

/** Those that fit what the provider can do. */
export function expiriesOf(
  provider: PaymentProvider,
): readonly { readonly seconds: number; readonly label: string }[] {
  const { min, max } = paymentAdapterOf(provider).rules.expiresIn;
  return EXPIRIES.filter(({ seconds }) => seconds >= min && seconds <= max);
}

export const defaultExpiryOf = (provider: PaymentProvider): number =>
  paymentAdapterOf(provider).rules.expiresIn.default;

export const expiryField = (provider: PaymentProvider): string => `expires_${provider}`;
