import { USER_AGENT } from '../platform/version.ts';
import { signatureHeaders } from '../platform/security/signature.ts';
import type { Event } from './event.ts';

/**
 * The header values that differ from attempt to attempt. They are stored with the attempt; all other
 * headers follow from the event.
 */
export interface RequestStamp {
  readonly userAgent: string;
  /** `X-Service-Signature`, with the time at which it was signed. */
  readonly signature: string;
  readonly webhookSignature: string;
  /**
   * Of a repeat that somebody asked for: the same for all its attempts, higher in the next repeat.
   * Null for other deliveries.
   */
  readonly round: number | null;
}

/**
 * Signs a request.
 * @param secrets unencrypted; each of them signs
 */
export function stampRequest(
  { id, body }: Pick<Event, 'id' | 'body'>,
  secrets: readonly string[],
  now: Date,
  round: number | null,
): RequestStamp {
  const signed = signatureHeaders(id, body, secrets, now);
  return {
    userAgent: USER_AGENT,
    signature: signed['x-service-signature'],
    webhookSignature: signed['webhook-signature'],
    round,
  };
}

/**
 * The headers of a request, in the order in which they are sent.
 * @see docs/events-and-signatures.md, "Headers"
 */
export const requestHeaders = (
  { id, name }: Pick<Event, 'id' | 'name'>,
  { userAgent, signature, webhookSignature, round }: RequestStamp,
): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': userAgent,
  'x-service-event': name,
  'x-service-delivery': id,
  'x-service-signature': signature,
  'webhook-id': id,
  'webhook-timestamp': /^t=(\d+)/.exec(signature)![1]!,
  'webhook-signature': webhookSignature,
  ...(round === null
    ? {}
    : { 'x-service-redelivery': 'manual', 'x-service-redelivery-round': String(round) }),
});

/** How long receivers that follow the documentation accept a signature. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

/** The request as a curl command for a shell such as bash. */
export const curlCommand = (url: string, headers: Record<string, string>, body: string): string =>
  [
    // Without --globoff, curl expands brackets and braces in the address.
    `curl -i -X POST --globoff ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ');

/** A text in single quotes, in which a shell reads every character as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
