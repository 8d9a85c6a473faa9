import { createHmac, createSecretKey } from 'node:crypto';

/**
 * The headers that prove to a receiver that the service sent a body.
 *
 * `X-Service-Signature: t=<unix>,v1=<hex>[,v1=<hex>]` is an HMAC-SHA256 over `<t>.<raw body>`. Its key
 * is the whole secret as UTF-8. There is one `v1` for each valid secret (two to five during a rotation).
 *
 * The Standard Webhooks headers carry the same id and time. Their HMAC is over `<id>.<t>.<raw body>`,
 * and its key is the 32 bytes that the secret encodes.
 * @see docs/events-and-signatures.md, "Verifying signatures"
 */
export function signatureHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  now: Date,
): Record<
  'x-service-signature' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature',
  string
> {
  const t = Math.floor(now.getTime() / 1000);
  return {
    'x-service-signature': serviceSignature(body, secrets, t),
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': secrets
      .map(
        (secret) =>
          `v1,${createHmac('sha256', secretKey(secret)).update(`${id}.${t}.${body}`).digest('base64')}`,
      )
      .join(' '),
  };
}

/** @param t Unix time in seconds */
export const serviceSignature = (body: string, secrets: readonly string[], t: number): string =>
  [
    `t=${t}`,
    ...secrets.map(
      (secret) => `v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`,
    ),
  ].join(',');

/** The 32 bytes that the secret encodes. createHmac is much faster with a key object than a Buffer. */
const secretKey = (secret: string) => createSecretKey(secret.replace(/^whsec_/, ''), 'base64');
