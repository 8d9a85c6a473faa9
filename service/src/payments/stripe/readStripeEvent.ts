import type { Stripe } from 'stripe';
import type { PaymentUpdate } from '../payment.ts';
import { stateOfSession } from './checkoutSession.ts';

/** How old a signature may be. Stripe signs each retry again. */
const TOLERANCE_S = 300;

/**
 * Verifies a webhook with Stripe's package and reads what it says about our payments. Other events
 * give an empty list.
 * @returns null when it is not signed with this secret, or is too old
 * @see docs.stripe.com, "Fulfill orders": which events mean that a payment is paid
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
    return null; // also for a signed event that Stripe's package cannot read: not one of ours
  }
}

function updatesOf(event: Stripe.Event): readonly PaymentUpdate[] {
  switch (event.type) {
    case 'checkout.session.completed':
      return updatesOfSession(event.data.object, stateOfSession(event.data.object));
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

/** Only sessions that name one of our payments count. The account may have others. */
const updatesOfSession = (
  { id, metadata }: Stripe.Checkout.Session,
  state: PaymentUpdate['state'],
): readonly PaymentUpdate[] =>
  metadata?.payment_id ? [{ paymentId: metadata.payment_id, reference: id, state }] : [];
