import type { Stripe } from 'stripe';
import type { Payment, RemoteState } from '../payment.ts';
import type { CheckResult } from '../paymentAdapter.ts';
import { stripeAmount } from './stripeAmount.ts';
import { isReplayedFault } from './stripeFailure.ts';

/** A payment's page at Stripe is a Checkout Session. */

type SessionParams = Stripe.Checkout.SessionCreateParams;

const MINUTE_MS = 60_000;
/** Stripe's bounds for how long a session lives. */
const MIN_LIFETIME_MS = 30 * MINUTE_MS;
const MAX_LIFETIME_MS = 24 * 60 * MINUTE_MS;
/** The most that Stripe's clock and ours may differ. */
const MARGIN_MS = 5 * MINUTE_MS;

/**
 * Makes the session. A payment always sends the same request under the same Idempotency-Key, so it
 * gets the same session for as long as its link lives. If Stripe keeps an error of its own under that
 * key, a second key is used. If the first key made a session after all, nobody knows its address.
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
    if (!isReplayedFault(error)) throw error;
    return await create(`payment-page-${payment.id}-again`);
  }
}

/**
 * The request for a session. It depends on nothing but the payment, and holds no customer data:
 * customers enter what Stripe needs on its page.
 */
function sessionParams(payment: Payment, pageUrl: string): SessionParams {
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

/** @throws Error for an amount that Stripe refuses; a link with such an amount is never created */
function unitAmountOf({ id, amount, currency }: Payment): number {
  const result = stripeAmount(amount, currency);
  if ('unitAmount' in result) return result.unitAmount;
  throw new Error(`payment ${id}: its ${result.param} ${result.message}`);
}

/**
 * When Stripe ends the session by itself, in case the service cannot close it when the link expires.
 * It is at least Stripe's shortest lifetime after the link's end, so that Stripe accepts it even if
 * the session is made late. If it would be too far away, it is left out, and Stripe uses 24 hours.
 */
function sessionEnd({ createdAt, expiresAt }: Payment): Pick<SessionParams, 'expires_at'> {
  const endMs = Date.parse(expiresAt) + MIN_LIFETIME_MS + MARGIN_MS;
  return endMs > Date.parse(createdAt) + MAX_LIFETIME_MS - MARGIN_MS
    ? {}
    : { expires_at: Math.floor(endMs / 1000) };
}

/**
 * A payment's state according to its session. When the session is complete but unpaid, the bank has
 * not answered yet or has refused; only the webhook says which.
 */
export function stateOfSession({
  payment_status,
  status,
}: Pick<Stripe.Checkout.Session, 'payment_status' | 'status'>): RemoteState {
  if (payment_status === 'paid' || payment_status === 'no_payment_required') return 'paid';
  if (status === 'complete') return 'confirming';
  return status === 'expired' ? 'expired' : 'open';
}

/** Closes the session. If it has ended already, returns how. */
export async function expireSession(stripe: Stripe, id: string): Promise<CheckResult> {
  try {
    return { type: stateOfSession(await stripe.checkout.sessions.expire(id)) };
  } catch (error) {
    const session =
      (error as { statusCode?: number }).statusCode === 400
        ? await stripe.checkout.sessions.retrieve(id)
        : null;
    if (!session || session.status === 'open') throw error;
    return { type: stateOfSession(session) };
  }
}
