import { OutboundError } from './outboundError.ts';

/** A URL to call, in parts. */
export interface Target {
  url: URL;
  origin: string;
  protocol: 'https:' | 'http:';
  /** A name, or an IP literal without brackets. */
  hostname: string;
  /** Empty for the protocol's default port. */
  port: string;
  /** Path and query, as sent. */
  path: string;
}

/** The host and port that a connection is for. */
export type Host = Pick<Target, 'protocol' | 'hostname' | 'port'>;

const parseUrl = (text: string): URL => {
  const url = URL.parse(text);
  if (!url)
    throw new OutboundError(
      'invalid_url',
      'The address is not a valid URL; it must look like https://example.com/path.',
    );
  return url;
};

const isHttp = (protocol: string): protocol is Target['protocol'] =>
  protocol === 'https:' || protocol === 'http:';

/** Removes the brackets that a URL puts around IPv6 literals. */
const withoutBrackets = (hostname: string) =>
  hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;

/**
 * Reads a target's URL and applies the rules that need no network. `URL` turns every spelling of an
 * IPv4 literal (`127.1`, `0x7f.1`, `2130706433`, full-width digits) into the same form.
 * @param mayUseHttp whether http:// may be used to this host; its addresses are checked later
 * @throws OutboundError `invalid_url` (no URL, port 0, or with a user name or password) or
 * `not_https`
 */
export const parseTarget = (text: string, mayUseHttp: (host: Host) => boolean): Target => {
  const url = parseUrl(text);
  const { protocol, port } = url;
  const hostname = withoutBrackets(url.hostname);
  if (!isHttp(protocol) || (protocol === 'http:' && !mayUseHttp({ protocol, hostname, port }))) {
    throw new OutboundError(
      'not_https',
      `The address must begin with https://, not ${protocol}//.`,
    );
  }
  if (url.username || url.password) {
    throw new OutboundError('invalid_url', 'The address must not carry a user name or password.');
  }
  if (url.port === '0') throw new OutboundError('invalid_url', 'The address must not name port 0.');
  return {
    url,
    origin: url.origin,
    protocol,
    hostname,
    port,
    path: url.pathname + url.search,
  };
};

/**
 * Refuses an address that `URL` would repair (spaces, line breaks, backslashes, a missing `//`):
 * the person who saves it probably meant another address. Refuses a # part too.
 * @throws OutboundError `invalid_url`
 */
export const assertPlainlyWritten = (text: string, { url }: Target): void => {
  if (/[\s\\\p{Cc}]/u.test(text))
    throw new OutboundError(
      'invalid_url',
      'The address must not hold spaces, line breaks or backslashes.',
    );
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text))
    throw new OutboundError(
      'invalid_url',
      'The address must begin with https:// and a host name, like https://example.com/path.',
    );
  if (url.hash !== '' || text.endsWith('#'))
    throw new OutboundError(
      'invalid_url',
      'The address must not carry a # part; it is never sent.',
    );
};
