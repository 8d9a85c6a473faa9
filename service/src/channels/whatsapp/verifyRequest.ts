import { createHmac, timingSafeEqual } from 'node:crypto';
import { isSameText } from '../../platform/security/tokens.ts';
import type { OpenAccount, Verification, WebhookRequest } from '../channelAdapter.ts';

/**
 * Verifies a request to the webhook. With GET, Meta checks the address: if the request carries our
 * verify token, the answer is its challenge. With POST, Meta delivers messages and receipts, with
 * the raw bytes signed by the app secret: `X-Hub-Signature-256: sha256=<hex>`.
 * @see developers.facebook.com, "Webhooks", "Getting started"
 */
export const verifyRequest = (request: WebhookRequest, { values }: OpenAccount): Verification =>
  request.method === 'GET'
    ? verifyChallenge(request.query, values.verify_token ?? '')
    : verifySignature(request, values.app_secret ?? '');

/** Meta's challenge is a number. A text that is not a short plain token is not sent back. */
const CHALLENGE = /^[A-Za-z0-9_-]{1,128}$/;

function verifyChallenge(
  {
    'hub.mode': mode,
    'hub.verify_token': token,
    'hub.challenge': challenge,
  }: WebhookRequest['query'],
  verifyToken: string,
): Verification {
  if (mode !== 'subscribe') return refused('hub.mode is not subscribe.');
  if (typeof token !== 'string' || verifyToken === '' || !isSameText(token, verifyToken))
    return refused('hub.verify_token is not the verify token of this channel.');
  if (typeof challenge !== 'string' || !CHALLENGE.test(challenge))
    return refused('hub.challenge is missing or is not a plain token.');
  return { type: 'answer', text: challenge };
}

function verifySignature({ headers, rawBody }: WebhookRequest, appSecret: string): Verification {
  const header = headers['x-hub-signature-256'];
  if (header === undefined) return refused('The header X-Hub-Signature-256 is missing.');
  const hex = typeof header === 'string' ? /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1] : undefined;
  if (hex === undefined)
    return refused('X-Hub-Signature-256 is not of the form sha256=<64 hexadecimal digits>.');
  const expected = createHmac('sha256', appSecret).update(rawBody).digest();
  if (appSecret === '' || !timingSafeEqual(Buffer.from(hex, 'hex'), expected))
    return refused("X-Hub-Signature-256 does not match this body and this channel's app secret.");
  return { type: 'authentic' };
}

const refused = (why: string): Verification => ({ type: 'refused', why });
