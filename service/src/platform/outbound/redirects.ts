import { OutboundError } from './outboundError.ts';

/** The request for one address in a chain of redirects. */
export interface Hop {
  url: string;
  method: string;
  headers: Record<string, string>;
  /**
   * Sent to another origin instead of `headers`. Default: only the `headers` for content negotiation.
   */
  headersElsewhere?: Record<string, string>;
  body?: string | Buffer;
}

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const CONTENT_NEGOTIATION: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
]);

export const isRedirectWithLocation = (status: number, { location }: Record<string, string>) =>
  REDIRECT_STATUSES.has(status) && location !== undefined;

const keepHeaders = (headers: Record<string, string>, isKept: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name.toLowerCase())));

const readLocation = (location: string, from: URL): URL => {
  const to = URL.parse(location, from.href);
  if (!to)
    throw new OutboundError(
      'redirect',
      `${from.host} redirected to something that is not a valid address.`,
    );
  if (from.protocol === 'https:' && to.protocol !== 'https:') {
    throw new OutboundError(
      'redirect',
      `${from.host} redirected to an address without https://; such a redirect is not followed.`,
    );
  }
  return to;
};

/** The request after a 301, 302 or 303: without a body and the headers that describe it. */
const asGet = ({ method, headers, headersElsewhere }: Hop, url: string): Hop => ({
  url,
  headersElsewhere,
  method: method === 'HEAD' ? 'HEAD' : 'GET',
  headers: keepHeaders(headers, (name) => !name.startsWith('content-')),
});

const isSafe = ({ method, body }: Hop) =>
  (method === 'GET' || method === 'HEAD') && body === undefined;

/**
 * The request that follows a redirect.
 * - 301, 302, 303: GET (or HEAD) without body; 307, 308: the same method and body
 * - to another origin: only GET and HEAD without body; with `headersElsewhere`, or only the headers
 *   for content negotiation
 * @throws OutboundError `redirect` when the redirect must not be followed
 */
export const nextHop = (hop: Hop, status: number, location: string): Hop => {
  const from = new URL(hop.url);
  const to = readLocation(location, from);
  const isRepeated = status === 307 || status === 308;
  const next = isRepeated ? { ...hop, url: to.href } : asGet(hop, to.href);
  if (from.origin === to.origin) return next;
  if (!isSafe(next)) {
    throw new OutboundError(
      'redirect',
      `${from.host} redirected a ${hop.method} to another origin (${to.host}); its body and headers are not sent there.`,
    );
  }
  const headers =
    next.headersElsewhere ?? keepHeaders(next.headers, (name) => CONTENT_NEGOTIATION.has(name));
  return { ...next, headers };
};
