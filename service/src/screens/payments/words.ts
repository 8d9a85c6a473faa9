import { formatAmount } from '../../domain/currency.ts';
import type { Payment, PaymentProvider, PaymentStatus } from '../../domain/payment.ts';
import { paymentAdapterOf } from '../../payments/registry.ts';

/** What the screens call payment links. */

export const PAYMENT_LABELS: Readonly<Record<PaymentStatus, string>> = {
  creating: 'being prepared',
  open: 'open',
  paid: 'paid',
  expired: 'expired',
  cancelled: 'cancelled',
  failed: 'failed',
};

export const paymentTone = (status: PaymentStatus): string =>
  status === 'paid' ? 'good' : status === 'failed' ? 'bad' : '';

export const providerLabel = (provider: PaymentProvider): string =>
  paymentAdapterOf(provider).label;

export const amountOf = ({ amount, currency }: Pick<Payment, 'amount' | 'currency'>): string =>
  formatAmount(amount, currency);
