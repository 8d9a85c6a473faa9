import type { Stripe } from 'stripe';
import type { PaymentUpdate } from '../../domain/payment.ts';
import { standingOf } from './checkoutSession.ts';

/** Seconds that a webhook may be old: Stripe signs each try anew. */
const TOLERANCE_S = 300;

/**
 * Verifies a webhook by Stripe's own package and says what it tells of payments of ours. Events
 * about anything else tell nothing.
 * @returns null when it is not signed with this secret, or too old
 * @see docs.stripe.com, "Fulfill orders": which events say that it is paid
 */
export async function readStripeEvent(
  rawBody: Buffer,
  signature: string,
  secret: string,
): Promise<readonly PaymentUpdate[] | null> {
  const { Stripe: Client } = await import('stripe');
  try {
    return updatesOf(Client.webhooks.constructEvent(rawBody, signature, secret, TOLERANCE_S));
  } catch {
    return null; // what is signed and no event of Checkout's generation is none of ours either
  }
}

function updatesOf(event: Stripe.Event): readonly PaymentUpdate[] {
  switch (event.type) {
    case 'checkout.session.completed':
      return updatesOfSession(event.data.object, standingOf(event.data.object));
    case 'checkout.session.async_payment_succeeded':
      return updatesOfSession(event.data.object, 'paid');
    case 'checkout.session.async_payment_failed':
      return updatesOfSession(event.data.object, 'failed');
    case 'checkout.session.expired':
      return updatesOfSession(event.data.object, 'expired');
    default:
      return [];
  }
}

/**
 * The account may take money in other ways too: only sessions that name a payment of ours count.
 */
const updatesOfSession = (
  { id, metadata }: Stripe.Checkout.Session,
  state: PaymentUpdate['state'],
): readonly PaymentUpdate[] =>
  metadata?.payment_id ? [{ paymentId: metadata.payment_id, reference: id, state }] : [];
