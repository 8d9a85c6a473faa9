import type { Contact } from '../conversations/index.ts';
import { formatAmount } from '../platform/currency.ts';
import { maskText } from '../platform/masking.ts';
import { paymentPayload } from './payload.ts';
import { paymentWebhookUrl, type Payment, type PaymentAccount } from './payment.ts';
import { paymentAdapterOf } from './registry.ts';

/** A payment link in the API's answers: the fields of an event, and those of the link. */
export const paymentLinkJson = (payment: Payment, contact: Contact, url: string) => {
  // The three that are named here come later in the answer, in the order of the contract.
  const { paid_at, provider, provider_reference, ...payload } = paymentPayload(payment, contact);
  return {
    ...payload,
    conversation_id: payment.conversationId,
    amount_display: formatAmount(payment.amount, payment.currency),
    provider,
    provider_reference,
    url,
    error: payment.error,
    created_by: { type: payment.createdBy.type, name: maskText(payment.createdBy.name, contact) },
    expires_at: payment.expiresAt,
    paid_at,
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
  };
};

export const paymentAccountJson = (account: PaymentAccount, publicUrl: string) => {
  const { fields, isRemote } = paymentAdapterOf(account.provider);
  return {
    provider: account.provider,
    settings: account.settings,
    secrets_set: fields
      .filter(({ kind, name }) => kind === 'secret' && name in account.sealedSecrets)
      .map(({ name }) => name),
    webhook_url: isRemote ? paymentWebhookUrl(publicUrl, account) : null,
    last_test: account.lastTest,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
  };
};
