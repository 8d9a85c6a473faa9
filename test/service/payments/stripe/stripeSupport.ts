import type { StripeServer, StripeWebhook } from '../../../helpers/stripeServer.ts';
import type { TestService } from '../../../helpers/service.ts';

export const WEBHOOK_SECRET = 'whsec_0123456789abcdefABCDEF';

/** Sets Stripe up. @returns the address that Stripe delivers to */
export async function setUpStripe(
  service: Pick<TestService, 'api' | 'url'>,
  server: StripeServer,
  settings: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await service.api.put('/api/payment-accounts/stripe', {
    settings: { secret_key: server.secretKey, webhook_secret: WEBHOOK_SECRET, ...settings },
  });
  if (status !== 200) throw new Error(`Stripe is not set up: ${JSON.stringify(body)}`);
  return service.url + new URL(body.webhook_url).pathname;
}

export const deliver = (url: string, { headers, body }: StripeWebhook): Promise<Response> =>
  fetch(url, { method: 'POST', headers, body });

/** Delivers a webhook. @returns the status and the body of the answer */
export async function delivered(
  url: string,
  webhook: StripeWebhook,
): Promise<{ status: number; body: unknown }> {
  const answer = await deliver(url, webhook);
  return { status: answer.status, body: await answer.json() };
}
