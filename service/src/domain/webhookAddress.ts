import type { Channel } from './channel.ts';
import type { Deps } from './deps.ts';
import type { Payment, PaymentAccount } from './payment.ts';

/**
 * The service's own addresses that stand elsewhere: in a channel's or provider's settings, in a
 * customer's chat. Each inbound one carries the account's id, so that it is verified with its own
 * secret.
 * @see docs/channels.md and docs/payments.md
 */

export const channelWebhookUrl = (
  publicUrl: string,
  { type, id }: Pick<Channel, 'type' | 'id'>,
): string => `${publicUrl}/api/channels/${type}/webhook/${id}`;

export const paymentWebhookUrl = (
  publicUrl: string,
  { provider, id }: Pick<PaymentAccount, 'provider' | 'id'>,
): string => `${publicUrl}/api/payments/${provider}/webhook/${id}`;

/** What the customer opens to pay. */
export const paymentPageUrl = (
  { publicUrl, secrets }: Pick<Deps, 'publicUrl' | 'secrets'>,
  { sealedPageToken }: Pick<Payment, 'sealedPageToken'>,
): string => `${publicUrl()}/pay/${secrets.open(sealedPageToken)}`;

export type PaymentPageUrl = (payment: Payment) => string;
