import { MAX_HEADER_BYTES } from './connectionPools.ts';
import { OutboundError, type OutboundErrorKind } from './outboundError.ts';

/** What happened and, unless it is obvious, what to do about it. */
interface Words {
  readonly kind: OutboundErrorKind;
  readonly what: string;
  readonly advice: string | undefined;
}

const ofKind =
  (kind: OutboundErrorKind) =>
  (what: string, advice?: string): Words => ({ kind, what, advice });
const network = ofKind('network');
const tls = ofKind('tls');
const invalidRequest = ofKind('invalid_request');
const tooLarge = ofKind('too_large');

const SEE_LOG = "The receiver's log, or that of a proxy in front of it, may say why.";
export const SEE_NETWORK = 'Check the address, and the firewalls on the way.';
const SEE_ADDRESS = 'Check that the address and its port are those of a web server.';
const SEE_ANSWER = 'The receiver, or a proxy in front of it, sends malformed responses.';
const ADD_AUTHORITY =
  'Let it send its whole certificate chain; NODE_EXTRA_CA_CERTS can make an authority trusted.';
const RENEW = 'Install a new certificate on the receiver.';

const GAVE_UP = network('% could not be reached: the network gave up connecting.', SEE_NETWORK);
const WRONG_LENGTH = network(
  '% sent a body that is longer or shorter than it announced.',
  SEE_ANSWER,
);
const NOT_HTTP = network('% did not answer in HTTP/1.1.', SEE_ADDRESS);
const PLAIN_HTTP = tls(
  '% does not speak TLS on this port (it may be plain http).',
  'Check the port of the address.',
);
const INCOMPLETE_CHAIN = tls(
  'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate.',
  ADD_AUTHORITY,
);
const OLD_TLS = tls('% speaks only TLS older than 1.2.', 'Let it speak TLS 1.2 or 1.3.');

/** What error codes of Node, OpenSSL and undici mean to an operator; `%` stands for the host. */
const WORDS: Record<string, Words> = {
  ECONNREFUSED: network(
    '% refused the connection: nothing listens there.',
    'Check that the receiver is running, and the port of its address.',
  ),
  ECONNRESET: network('% reset the connection before it had answered.', SEE_LOG),
  EPIPE: network('% closed the connection while the request was being sent.', SEE_LOG),
  UND_ERR_SOCKET: network('% closed the connection before it had answered.', SEE_LOG),
  ETIMEDOUT: GAVE_UP,
  UND_ERR_CONNECT_TIMEOUT: GAVE_UP,
  EHOSTUNREACH: network('% could not be reached: no route to its address.', SEE_NETWORK),
  ENETUNREACH: network('% could not be reached: no route to its network.', SEE_NETWORK),
  EADDRNOTAVAIL: network(
    '% could not be reached: this machine has no free port or no address for it.',
    'Check the network of this service.',
  ),
  EMFILE: network(
    '% could not be called: this process has too many open files.',
    'Raise its limit of open files.',
  ),

  UND_ERR_HEADERS_OVERFLOW: tooLarge(
    `% answered with headers larger than ${MAX_HEADER_BYTES / 1024} KiB.`,
    'Let it send fewer or smaller ones.',
  ),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: WRONG_LENGTH,
  // undici's parser reports a status below 100 as a failed assertion.
  ERR_ASSERTION: network('% answered with a status that HTTP does not have.', SEE_ANSWER),
  UND_ERR_INVALID_ARG: invalidRequest('The request to % cannot be written as HTTP'),
  UND_ERR_NOT_SUPPORTED: invalidRequest('The request to % cannot be written as HTTP'),
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: invalidRequest(
    'The request to % announces a length that its body does not have',
  ),
  UND_ERR_CLOSED: network('% was not called: the service is stopping.'),
  UND_ERR_DESTROYED: network('% was not called: the service is stopping.'),

  CERT_HAS_EXPIRED: tls('The certificate of % has expired.', RENEW),
  CERT_NOT_YET_VALID: tls(
    'The certificate of % is not valid yet.',
    'Check the clocks of both machines.',
  ),
  CERT_REVOKED: tls('The certificate of % has been revoked.', RENEW),
  DEPTH_ZERO_SELF_SIGNED_CERT: tls(
    'The certificate of % is self-signed; NODE_EXTRA_CA_CERTS can make it trusted.',
  ),
  SELF_SIGNED_CERT_IN_CHAIN: tls(
    'The certificate of % comes from a private authority; NODE_EXTRA_CA_CERTS can make it trusted.',
  ),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: INCOMPLETE_CHAIN,
  UNABLE_TO_GET_ISSUER_CERT: tls(
    'The certificate of % comes from an unknown authority.',
    ADD_AUTHORITY,
  ),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: INCOMPLETE_CHAIN,
  CERT_SIGNATURE_FAILURE: tls(
    'The certificate of % was not signed by the authority that it names.',
    RENEW,
  ),
  ERR_TLS_CERT_ALTNAME_INVALID: tls(
    'The certificate of % is for another name.',
    'Use the name it is for, or give the receiver a certificate for this name.',
  ),
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: tls(
    '% does not speak HTTP/1.1 (it may offer HTTP/2 only).',
    'Let the receiver, or a proxy in front of it, speak HTTP/1.1 too.',
  ),
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: OLD_TLS,
  ERR_SSL_UNSUPPORTED_PROTOCOL: OLD_TLS,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: tls(
    '% wants a client certificate, which this service does not have.',
    'Let the receiver rely on the signature instead.',
  ),
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': tls(
    '% and this service have no TLS version or cipher in common.',
    'Let it offer TLS 1.2 or 1.3 with a common cipher, and ask for no client certificate.',
  ),
  ERR_SSL_WRONG_VERSION_NUMBER: PLAIN_HTTP,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: PLAIN_HTTP,
};

/** Failures that undici tells apart only by their messages. */
const WORDS_BY_MESSAGE: Record<string, Words> = {
  'bad response': network(
    '% sent 100 Continue, although nothing asked for it.',
    'Let it answer with a final status.',
  ),
  'bad upgrade': network(
    '% wants to switch to another protocol.',
    'Use an address that accepts POST; this one may be for WebSockets.',
  ),
};

// The names of these errors differ between versions of OpenSSL.
const isPlainHttp = (code: string) =>
  code.startsWith('ERR_SSL_') && /HTTP_REQUEST|WRONG_VERSION/.test(code);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';

/** The error to describe. When several addresses were tried, it is that of the first. */
const rootOf = (error: Error): Error => {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0];
  return error.cause instanceof OutboundError ? error.cause : error;
};

const DURING_HANDSHAKE = 'before secure TLS connection';

const wordsFor = (error: Error): Words => {
  const code = codeOf(error);
  if (code === 'ECONNRESET' && error.message.includes(DURING_HANDSHAKE)) {
    return tls(
      '% closed the connection during the TLS handshake.',
      'Check that this port speaks TLS for this name.',
    );
  }
  if (code === 'UND_ERR_SOCKET' && WORDS_BY_MESSAGE[error.message])
    return WORDS_BY_MESSAGE[error.message]!;
  if (WORDS[code]) return WORDS[code];
  if (error.name === 'HTTPParserError')
    return /Content-Length/i.test(error.message) ? WRONG_LENGTH : NOT_HTTP;
  if (isPlainHttp(code)) return PLAIN_HTTP;
  if (/^(ERR_SSL_|ERR_TLS_|CERT_|EPROTO)/.test(code))
    return tls(`TLS with % failed (${code}).`, SEE_LOG);
  // Without the error's message: Node writes addresses of this network into it.
  return network(`The call to % failed (${code || error.name}).`);
};

/** Puts a failure of the connection into words. */
export const describeFailure = (error: Error, host: string): OutboundError => {
  const root = rootOf(error);
  if (root instanceof OutboundError) return root;
  const { kind, what, advice } = wordsFor(root);
  const text = what.replaceAll('%', host);
  const message = kind === 'invalid_request' ? `${text}: ${root.message}.` : text;
  return new OutboundError(kind, message, { advice, cause: error });
};
