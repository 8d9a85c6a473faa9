import { formatAmount } from '../../domain/currency.ts';
import type { Payment, PaymentProvider, PaymentStatus } from '../../domain/payment.ts';
import { paymentAdapterOf } from '../../payments/registry.ts';
import { badge } from '../components.ts';
import type { View } from '../html.ts';

export const PAYMENT_LABELS: Readonly<Record<PaymentStatus, string>> = {
  creating: 'being created',
  open: 'open',
  paid: 'paid',
  expired: 'expired',
  cancelled: 'cancelled',
  failed: 'failed',
};

export const paymentBadge = ({ status }: Payment): View => {
  const tone = status === 'paid' ? 'good' : status === 'failed' ? 'bad' : '';
  return badge(PAYMENT_LABELS[status], tone);
};

export const providerLabel = (provider: PaymentProvider): string =>
  paymentAdapterOf(provider).label;

export const amountOf = ({ amount, currency }: Pick<Payment, 'amount' | 'currency'>): string =>
  formatAmount(amount, currency);
