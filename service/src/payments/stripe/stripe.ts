import type { Payment } from '../payment.ts';
import type { SetupValues } from '../../platform/accounts/accountSetup.ts';
import type { RemoteProvider } from '../paymentAdapter.ts';
import { askStripe } from './askStripe.ts';
import { createSession, expireSession, stateOfSession } from './checkoutSession.ts';
import { readStripeEvent } from './readStripeEvent.ts';
import { stripeAmount } from './stripeAmount.ts';

/**
 * Stripe Checkout: a Checkout Session for each link, its webhook verified by Stripe's own package.
 * @see docs.stripe.com, "Checkout Sessions" and "Fulfill orders"
 */
export const stripe: RemoteProvider = {
  provider: 'stripe',
  label: 'Stripe',
  isRemote: true,
  // Checkout Sessions live from 30 minutes to 24 hours.
  expiresIn: { min: 30 * 60, max: 24 * 60 * 60, default: 24 * 60 * 60 },
  refuse: (amount, currency) => {
    const result = stripeAmount(amount, currency);
    return 'unitAmount' in result ? null : result;
  },
  fields: [
    {
      name: 'secret_key',
      label: 'Secret key',
      help: 'In the Stripe dashboard under Developers, API keys: sk_…, or a restricted key (rk_…) that may write Checkout Sessions.',
      kind: 'secret',
      isRequired: true,
      pattern: /^[sr]k_(live|test)_[A-Za-z0-9_]{8,250}$/,
      hint: 'must be a secret key, such as sk_live_… or sk_test_…',
      max: 300,
    },
    {
      name: 'webhook_secret',
      label: 'Signing secret of the webhook',
      help: 'Stripe shows it (whsec_…) once the webhook URL is added as an endpoint. Without it, payments are seen a little later.',
      kind: 'secret',
      isRequired: false,
      pattern: /^whsec_[A-Za-z0-9+/=]{8,250}$/,
      hint: 'must be a signing secret, such as whsec_…',
      max: 300,
    },
  ],
  // The events are those that readStripeEvent.ts reads.
  setupSteps: [
    'In the Stripe dashboard, under Developers, Webhooks, add an endpoint (an event destination of the type webhook) with this address.',
    'Choose these four events: checkout.session.completed, checkout.session.async_payment_succeeded, checkout.session.async_payment_failed, checkout.session.expired.',
    'Stripe then shows the signing secret of this endpoint (whsec_…). Fill it in below and save.',
  ],

  create: (payment, account, context) =>
    askStripe(account, context, async (stripe) => {
      const { id, url } = await createSession(stripe, payment, context.pageUrl);
      return url === null
        ? { type: 'refused', error: 'Stripe gave no address for the page. Make a new link.' }
        : { type: 'created', reference: id, url };
    }),

  check: (payment, account, context) =>
    askStripe(account, context, async (stripe) => ({
      type: stateOfSession(await stripe.checkout.sessions.retrieve(sessionOf(payment))),
    })),

  expire: (payment, account, context) =>
    askStripe(account, context, (stripe) => expireSession(stripe, sessionOf(payment))),

  readWebhook: async ({ rawBody, headers }, { values }) => {
    const signature = headers['stripe-signature'];
    if (!values.webhook_secret || typeof signature !== 'string') return null;
    return readStripeEvent(rawBody, signature, values.webhook_secret);
  },

  async test(account, context) {
    const answer = await askStripe(account, context, (stripe) =>
      stripe.checkout.sessions.list({ limit: 1 }),
    );
    return 'error' in answer
      ? { ok: false, message: answer.error }
      : { ok: true, message: acceptedInWords(account.values) };
  },
};

/** @throws Error while the page is still to be made */
function sessionOf({ id, providerReference }: Payment): string {
  if (providerReference === null) throw new Error(`payment ${id} has no Checkout Session yet`);
  return providerReference;
}

function acceptedInWords({ secret_key = '', webhook_secret }: SetupValues): string {
  const mode = secret_key.includes('_test_') ? 'test mode: no real money moves' : 'live mode';
  const hint = webhook_secret
    ? ''
    : ' Without the signing secret of the webhook, the service learns of a payment only when the customer comes back or the link expires.';
  return `Stripe accepts the key, in ${mode}.${hint}`;
}
