import { jsonIn } from '../../platform/json.ts';
import { Agent, request } from 'undici';
import type { ChannelContext } from '../channelAdapter.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';

/** The base address comes from the environment, so the call needs no guarded client. */
interface GraphCall {
  readonly method: 'GET' | 'POST';
  /** Below the versioned base address, with its query. */
  readonly path: string;
  readonly token: string;
  readonly body?: unknown;
}

export type GraphAnswer =
  | {
      readonly type: 'answer';
      readonly status: number;
      /** Null when the body is not a whole JSON object. */
      readonly json: Fields | null;
      /** True when a JSON body broke off or was too long. */
      readonly isCut: boolean;
      /** From Retry-After; null when there is none. */
      readonly retryAfterMs: number | null;
    }
  | {
      readonly type: 'no_answer';
      /** A sentence for the team. */
      readonly error: string;
      /** Meta may have carried out the request. */
      readonly wasSent: boolean;
    };

const MAX_ANSWER_BYTES = 64 * 1024;

/** Keeps connections open for some seconds, for the next call. Idle ones keep no process alive. */
const connections = new Agent({ keepAliveTimeout: 10_000, keepAliveMaxTimeout: 60_000 });

/**
 * One call of Meta's Graph API. One deadline covers connecting, sending and reading; at most 64 KiB
 * of the answer are read, and no redirect is followed. The token is in a header only.
 * @throws the signal's reason, and nothing else
 */
export async function graphCall(
  { method, path, token, body }: GraphCall,
  { config, signal }: ChannelContext,
): Promise<GraphAnswer> {
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(config.timeoutMs);
  try {
    const response = await request(`${config.graphApiUrl}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher: connections,
      signal: AbortSignal.any([signal, deadline]),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const retryAfterMs = waitAskedFor(response.headers['retry-after'], new Date());
    const text = await readText(response.body).catch(() => null);
    signal.throwIfAborted();
    const isCut =
      text === null && /^application\/json\b/.test(String(response.headers['content-type']));
    return {
      type: 'answer',
      status: response.statusCode,
      json: text === null ? null : parseObject(text),
      isCut,
      retryAfterMs,
    };
  } catch (error) {
    signal.throwIfAborted();
    return noAnswer(error, deadline.aborted, config);
  }
}

/** @throws Error when the body is too large or breaks off */
async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseObject(text: string): Fields | null {
  const value: unknown = jsonIn(text);
  // fieldsOf returns an object as it is, and an empty one for anything else.
  return value === fieldsOf(value) ? (value as Fields) : null;
}

/** Seconds, or an HTTP date. */
function waitAskedFor(header: string | string[] | undefined, now: Date): number | null {
  const given = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d+$/.test(given)) return Number(given) * 1000;
  const at = /[a-z]/i.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}

/**
 * Whether an error occurred before any part of the request was sent. The code alone does not tell: a
 * connection can also time out or lose its route (ETIMEDOUT, EHOSTUNREACH) after the request was
 * written; the failed system call is then `read` or `write`.
 */
export function isUnsent(error: unknown): boolean {
  const { code, syscall } = fieldsOf(rootOf(error));
  if (syscall === 'connect' || syscall === 'getaddrinfo') return true;
  return /^UND_ERR_CONNECT_TIMEOUT$|CERT|TLS|SSL|ALTNAME|SELF_SIGNED|VERIFY/.test(String(code));
}

function noAnswer(
  error: unknown,
  isLate: boolean,
  { graphApiUrl, timeoutMs }: ChannelContext['config'],
): GraphAnswer {
  const { host } = new URL(graphApiUrl);
  const code = textOf(fieldsOf(rootOf(error)).code) ?? 'no code';
  const wasUnsent = isUnsent(error);
  const why = isLate
    ? `${host} did not answer within ${timeoutMs / 1000} seconds.`
    : wasUnsent
      ? `${host} cannot be reached (${code}). Check the network of this service and GRAPH_API_URL.`
      : `The connection to ${host} broke off (${code}).`;
  return { type: 'no_answer', error: why, wasSent: isLate || !wasUnsent };
}

/** The error of the first address that was tried, or the one behind an error without a code. */
function rootOf(error: unknown): unknown {
  const { code, cause, errors } = fieldsOf(error);
  const [first] = listOf(errors);
  if (first !== undefined) return rootOf(first);
  return typeof code === 'string' || cause === undefined ? error : rootOf(cause);
}
