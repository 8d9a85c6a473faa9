import type { Contact } from '../conversations/index.ts';
import { maskText } from '../platform/masking.ts';
import type { Payment } from './payment.ts';

/** The wire form of a payment, contact details masked. */
export const paymentPayload = (payment: Payment, contact: Contact) => ({
  id: payment.id,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  description: maskText(payment.description, contact),
  provider: payment.provider,
  provider_reference:
    payment.providerReference === null ? null : maskText(payment.providerReference, contact),
  paid_at: payment.paidAt,
});
