import { USER_AGENT } from '../platform/version.ts';
import { signatureHeaders } from '../platform/security/signature.ts';

/**
 * What the headers of one attempt have of their own. The other headers follow from the event, so an
 * attempt keeps only this.
 */
export interface RequestStamp {
  readonly userAgent: string;
  /** `X-Service-Signature`, with the time at which it was signed. */
  readonly signature: string;
  readonly webhookSignature: string;
  /** Of a repeat that somebody asked for; null for every other attempt. */
  readonly round: number | null;
}

interface SentEvent {
  readonly name: string;
  readonly id: string;
  readonly body: string;
}

/**
 * Signs a request.
 * @param secrets unencrypted; each of them signs
 */
export function stampRequest(
  { id, body }: Pick<SentEvent, 'id' | 'body'>,
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
  { id, name }: Pick<SentEvent, 'id' | 'name'>,
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

/** The request as a command for a shell, such as bash. */
export const curlCommand = (url: string, headers: Record<string, string>, body: string): string =>
  [
    // Without --globoff, brackets and braces in the address are ranges and lists.
    `curl -i -X POST --globoff ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ');

/** A text in single quotes, in which a shell reads every character as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
