import type { RemoteProvider } from './paymentAdapter.ts';

/**
 * Stripe Checkout: a Checkout Session for each link, its webhook verified by Stripe's own package.
 * @see docs.stripe.com, "Checkout Sessions" and "Fulfill orders"
 */
export const stripe: RemoteProvider = {
  provider: 'stripe',
  label: 'Stripe',
  isRemote: true,
  // Checkout Sessions live from 30 minutes to 24 hours.
  rules: { isRemote: true, expiresIn: { min: 30 * 60, max: 24 * 60 * 60, default: 24 * 60 * 60 }, refuse: () => null },
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
      help: 'Stripe shows it (whsec_…) once the address below is added as a webhook endpoint. Without it, payments are seen a little later.',
      kind: 'secret',
      isRequired: false,
      pattern: /^whsec_[A-Za-z0-9+/=]{8,250}$/,
      hint: 'must be a signing secret, such as whsec_…',
      max: 300,
    },
  ],
  create: async () => ({ type: 'refused', error: 'not built yet' }),
  check: async () => ({ type: 'refused', error: 'not built yet' }),
  expire: async () => ({ type: 'refused', error: 'not built yet' }),
  readWebhook: () => null,
  test: async () => ({ ok: false, message: 'not built yet' }),
};
