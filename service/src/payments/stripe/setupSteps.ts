/**
 * What a team does in Stripe's dashboard so that the service hears of payments at once. The events are
 * those that readStripeEvent.ts reads.
 */
export const STRIPE_SETUP_STEPS: readonly string[] = [
  'In the Stripe dashboard, under Developers, Webhooks, add an endpoint (an event destination of the type webhook) with this address.',
  'Choose these four events: checkout.session.completed, checkout.session.async_payment_succeeded, checkout.session.async_payment_failed, checkout.session.expired.',
  'Stripe then shows the signing secret of this endpoint (whsec_…). Fill it in below and save.',
];
