import type { Stripe } from 'stripe';
import type { Payment, PaymentStanding } from '../../domain/payment.ts';
import type { CheckResult } from '../paymentAdapter.ts';
import { stripeAmount } from './stripeAmount.ts';
import { isKeptFault } from './stripeFailure.ts';

/** A payment's page at Stripe: its Checkout Session. */

type SessionParams = Stripe.Checkout.SessionCreateParams;

const MINUTE_MS = 60_000;
/** Stripe's own bounds, counted from when it makes the session. */
const MIN_LIFETIME_MS = 30 * MINUTE_MS;
const MAX_LIFETIME_MS = 24 * 60 * MINUTE_MS;
/** How far Stripe's clock and ours may differ. */
const MARGIN_MS = 5 * MINUTE_MS;

/**
 * Makes the session. The same payment is the same request under the same Idempotency-Key, and so
 * the same session, for as long as a link lives. Only where Stripe keeps a fault of its own under
 * that key is another one used; what may have been made under the first one was shown to nobody.
 */
export async function createSession(
  stripe: Stripe,
  payment: Payment,
  pageUrl: string,
): Promise<Stripe.Checkout.Session> {
  const create = (idempotencyKey: string) =>
    stripe.checkout.sessions.create(sessionParams(payment, pageUrl), { idempotencyKey });
  try {
    return await create(`payment-page-${payment.id}`);
  } catch (error) {
    if (!isKeptFault(error)) throw error;
    return await create(`payment-page-${payment.id}-again`);
  }
}

/**
 * Nothing of the customer goes to Stripe: they tell it what it needs. Follows from the payment
 * alone.
 */
export function sessionParams(payment: Payment, pageUrl: string): SessionParams {
  const metadata = {
    payment_id: payment.id,
    conversation_id: payment.conversationId,
    workspace_id: payment.workspaceId,
  };
  const backUrl = `${pageUrl}?from=provider`;
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: payment.currency,
          unit_amount: unitAmountOf(payment),
          product_data: { name: payment.description },
        },
      },
    ],
    client_reference_id: payment.id,
    metadata,
    payment_intent_data: { metadata, description: payment.description },
    ...sessionEnd(payment),
    success_url: backUrl,
    cancel_url: backUrl,
  };
}

/** @throws Error for what the rules of this provider refuse when the link is made */
function unitAmountOf({ id, amount, currency }: Payment): number {
  const taken = stripeAmount(amount, currency);
  if ('unitAmount' in taken) return taken.unitAmount;
  throw new Error(`payment ${id}: its ${taken.param} ${taken.message}`);
}

/**
 * When Stripe ends the session by itself. The service closes it when the link's time is over; this
 * is for when it cannot. It comes so much later that a link which Stripe could not be asked for at
 * first is still more than Stripe's shortest away from it. Left out where it were too far away:
 * then Stripe takes 24 hours.
 */
function sessionEnd({ createdAt, expiresAt }: Payment): Pick<SessionParams, 'expires_at'> {
  const endMs = Date.parse(expiresAt) + MIN_LIFETIME_MS + MARGIN_MS;
  return endMs > Date.parse(createdAt) + MAX_LIFETIME_MS - MARGIN_MS
    ? {}
    : { expires_at: Math.floor(endMs / 1000) };
}

/**
 * How a payment stands by its session. Complete and unpaid: a bank still has to answer, or has
 * refused, which only the webhook tells.
 */
export function standingOf({
  payment_status,
  status,
}: Pick<Stripe.Checkout.Session, 'payment_status' | 'status'>): PaymentStanding {
  if (payment_status === 'paid' || payment_status === 'no_payment_required') return 'paid';
  if (status === 'complete') return 'confirming';
  return status === 'expired' ? 'expired' : 'open';
}

/** Closes the session. One that is over already says how it ended. */
export async function expireSession(stripe: Stripe, id: string): Promise<CheckResult> {
  try {
    return { type: standingOf(await stripe.checkout.sessions.expire(id)) };
  } catch (error) {
    const session =
      (error as { statusCode?: number }).statusCode === 400
        ? await stripe.checkout.sessions.retrieve(id)
        : null;
    if (!session || session.status === 'open') throw error;
    return { type: standingOf(session) };
  }
}
