/**
 * What a team does at Stripe so that payments are seen at once; the events are those of
 * readStripeEvent.ts.
 */
export const STRIPE_SETUP_STEPS: readonly string[] = [
  'In the Stripe dashboard, under Developers, Webhooks, add an endpoint (an event destination of the kind webhook) with this address.',
  'Choose these four events: checkout.session.completed, checkout.session.async_payment_succeeded, checkout.session.async_payment_failed, checkout.session.expired.',
  'Stripe then shows the signing secret of this endpoint (whsec_…). Fill it in below and save.',
];
