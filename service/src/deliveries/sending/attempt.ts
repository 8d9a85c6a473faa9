import { RESPONSE_EXCERPT_BYTES, judge, type AttemptVerdict } from '../delivery.ts';
import type { Event } from '../event.ts';
import {
  OutboundError,
  type OutboundClient,
  type OutboundResponse,
} from '../../platform/outbound/outboundClient.ts';
import type { OutboundErrorKind } from '../../platform/outbound/outboundError.ts';
import { requestHeaders, stampRequest, type RequestStamp } from '../request.ts';

/** How much of an answer is read. */
const MAX_RESPONSE_BYTES = 64 * 1024;
/**
 * How far ahead of the clock a repeat may be signed, if the clock was set back. Receivers accept more.
 */
const MAX_AHEAD_MS = 60_000;

/** The result of one HTTP attempt. */
export interface AttemptResult {
  readonly request: RequestStamp;
  readonly verdict: AttemptVerdict;
  readonly statusCode: number | null;
  readonly durationMs: number;
  /** In words, null for a success. */
  readonly error: string | null;
  /** Why no answer came; null when one did. */
  readonly errorKind: OutboundErrorKind | null;
  readonly responseExcerpt: string | null;
}

/** An event as it goes to one subscriber. */
interface EventCall {
  readonly workspaceId: string;
  readonly url: string;
  readonly event: Pick<Event, 'id' | 'name' | 'body'>;
  /** Unencrypted. The event is signed with each of them. */
  readonly secrets: readonly string[];
  /**
   * Set when somebody asked for this repeat: the same for all attempts of one request, and higher
   * for the next request. Null for every other delivery.
   */
  readonly repeatRound: number | null;
  /** When it was last sent to this subscriber (ISO 8601); null when it never was. */
  readonly lastAttemptAt: string | null;
}

/**
 * POSTs an event to a subscriber once, signed with the current time. One deadline covers
 * connecting, TLS, headers and body. A 2xx whose headers arrive in time is a success, even if its
 * body does not arrive in full.
 * @see docs/events-and-signatures.md, "Headers"
 */
export async function attempt(
  outbound: Pick<OutboundClient, 'request'>,
  call: EventCall,
  { now, timeoutMs }: { now: Date; timeoutMs: number },
): Promise<AttemptResult> {
  const { event, secrets, repeatRound } = call;
  const request = stampRequest(event, secrets, signingTime(call, now), repeatRound);
  const startedAt = performance.now();
  try {
    const { status, headers, body } = await outbound.request({
      workspaceId: call.workspaceId,
      url: call.url,
      method: 'POST',
      headers: requestHeaders(event, request),
      body: event.body,
      timeoutMs,
      maxBytes: MAX_RESPONSE_BYTES,
      onTooLarge: 'cut',
    });
    const verdict = judge(status);
    return {
      request,
      verdict,
      statusCode: status,
      durationMs: elapsedMs(startedAt),
      error: verdict === 'success' ? null : statusInWords(status),
      errorKind: null,
      responseExcerpt: body.length === 0 ? null : excerpt(headers, body),
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      request,
      verdict: isFinal(error) ? 'failure' : 'retry',
      statusCode: null,
      durationMs: elapsedMs(startedAt),
      error: [error.message, error.advice].filter(Boolean).join(' '),
      errorKind: error.kind,
      responseExcerpt: null,
    };
  }
}

/**
 * Signs a repeat with a later second than the attempt before it. The header that marks a repeat is
 * not signed, so only the time tells a repeat from a captured delivery that is replayed with that
 * header.
 * @see docs/decisions/0028-kept-connections-and-repeats.md
 */
function signingTime({ repeatRound, lastAttemptAt }: EventCall, now: Date): Date {
  if (repeatRound === null || lastAttemptAt === null) return now;
  const nextSecond = (Math.floor(Date.parse(lastAttemptAt) / 1000) + 1) * 1000;
  return new Date(Math.min(Math.max(now.getTime(), nextSecond), now.getTime() + MAX_AHEAD_MS));
}

const elapsedMs = (startedAt: number) => Math.round(performance.now() - startedAt);

/** A retry does not help when the address or the request itself is refused. */
const FINAL: readonly OutboundError['kind'][] = [
  'blocked_address',
  'not_https',
  'invalid_url',
  'invalid_request',
];
const isFinal = ({ kind }: OutboundError) => FINAL.includes(kind);

/** What to do about a status. */
const ADVICE: Partial<Record<number, string>> = {
  401: 'The receiver may have another secret. If it is an n8n workflow, publish it again.',
  403: 'The receiver may have another secret. If it is an n8n workflow, publish it again.',
  404: 'The receiver does not know this address. If it is an n8n workflow, publish it again.',
  405: 'Use an address that accepts POST.',
  408: 'Answer 503 instead to get a retry later.',
  413: 'Let the receiver, or the proxy in front of it, accept larger bodies.',
  429: 'Answer 503 instead to get a retry later.',
};

function statusInWords(status: number): string {
  // Does not say that the subscription is removed: another receiver may have taken it over.
  if (status === 410) return 'The receiver answered 410 Gone, which ends a subscription.';
  if (status >= 500) return `The receiver answered ${status}.`;
  if (status >= 400)
    return [`The receiver answered ${status}; a 4xx is not retried.`, ADVICE[status]]
      .filter(Boolean)
      .join(' ');
  if (status >= 300)
    return `The receiver answered ${status}; redirects are not followed. Subscribe the final address.`;
  return `The receiver answered ${status}, which is not a success.`;
}

const UNREADABLE =
  '[The answer cannot be read: its data is damaged, or its Content-Encoding is unknown.]';

/**
 * The beginning of an answer as text. Broken UTF-8 and NUL become replacement characters. An answer
 * that still has its encoding was not decoded; if it is no text, nobody can read it.
 */
function excerpt(headers: OutboundResponse['headers'], body: Buffer): string {
  const beginning = body.subarray(0, RESPONSE_EXCERPT_BYTES);
  const text = new TextDecoder().decode(beginning).replaceAll('\0', '\ufffd');
  const isEncoded = !/^(identity)?$/i.test(String(headers['content-encoding'] ?? ''));
  // The last character may be cut.
  return isEncoded && text.slice(0, -1).includes('\ufffd') ? UNREADABLE : text;
}
