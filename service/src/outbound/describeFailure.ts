import { MAX_HEADER_BYTES } from './connectionPools.ts';
import { OutboundError, type OutboundErrorKind } from './outboundError.ts';

type Words = readonly [OutboundErrorKind, string];

/** What error codes of Node, OpenSSL and undici mean to an operator; `%` stands for the host. */
const WORDS: Record<string, Words> = {
  ECONNREFUSED: ['network', '% refused the connection: nothing listens there.'],
  ECONNRESET: ['network', '% reset the connection before it had answered.'],
  EPIPE: ['network', '% closed the connection while the request was being sent.'],
  UND_ERR_SOCKET: ['network', '% closed the connection before it had answered.'],
  ETIMEDOUT: ['network', '% could not be reached: the network gave up connecting.'],
  UND_ERR_CONNECT_TIMEOUT: ['network', '% could not be reached: the network gave up connecting.'],
  EHOSTUNREACH: ['network', '% could not be reached: no route to its address.'],
  ENETUNREACH: ['network', '% could not be reached: no route to its network.'],
  EADDRNOTAVAIL: ['network', '% could not be reached: this machine has no free port or no address for it.'],
  EMFILE: ['network', '% could not be called: this process has too many open files.'],

  UND_ERR_HEADERS_OVERFLOW: ['too_large', `% answered with headers larger than ${MAX_HEADER_BYTES / 1024} KiB.`],
  HPE_HEADER_OVERFLOW: ['too_large', `% answered with headers larger than ${MAX_HEADER_BYTES / 1024} KiB.`],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['network', '% sent a body of another length than it announced.'],
  UND_ERR_INVALID_ARG: ['invalid_request', 'The request to % cannot be written as HTTP'],
  UND_ERR_NOT_SUPPORTED: ['invalid_request', 'The request to % cannot be written as HTTP'],
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: [
    'invalid_request',
    'The request to % announces another length than its body has',
  ],
  UND_ERR_CLOSED: ['network', '% was not called: the service is stopping.'],
  UND_ERR_DESTROYED: ['network', '% was not called: the service is stopping.'],

  CERT_HAS_EXPIRED: ['tls', 'The certificate of % has expired.'],
  CERT_NOT_YET_VALID: ['tls', 'The certificate of % is not valid yet.'],
  CERT_REVOKED: ['tls', 'The certificate of % has been revoked.'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['tls', 'The certificate of % is self-signed; NODE_EXTRA_CA_CERTS can make it trusted.'],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'tls',
    'The certificate of % comes from a private authority; NODE_EXTRA_CA_CERTS can make it trusted.',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'tls',
    'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate.',
  ],
  UNABLE_TO_GET_ISSUER_CERT: ['tls', 'The certificate of % comes from an unknown authority.'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'tls',
    'The certificate of % comes from an unknown authority, or % does not send its intermediate certificate.',
  ],
  CERT_SIGNATURE_FAILURE: ['tls', 'The certificate of % was not signed by the authority that it names.'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['tls', 'The certificate of % is for another name.'],
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: ['tls', '% does not speak HTTP/1.1 (it may offer HTTP/2 only).'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['tls', '% does not speak TLS on this port (it may be plain http).'],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['tls', '% does not speak TLS on this port (it may be plain http).'],
};

// OpenSSL names the same thing differently from version to version.
const isPlainHttp = (code: string) => code.startsWith('ERR_SSL_') && /HTTP_REQUEST|WRONG_VERSION/.test(code);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';

/** The error that explains the others: several addresses were tried, and the first says enough. */
const rootOf = (error: Error): Error => {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0];
  return error.cause instanceof OutboundError ? error.cause : error;
};

const DURING_HANDSHAKE = 'before secure TLS connection';

const wordsFor = (error: Error): Words => {
  const code = codeOf(error);
  if (code === 'ECONNRESET' && error.message.includes(DURING_HANDSHAKE)) {
    return ['tls', '% closed the connection during the TLS handshake.'];
  }
  if (code.startsWith('HPE_') && !WORDS[code]) return ['network', '% did not answer in HTTP/1.1.'];
  if (isPlainHttp(code)) return WORDS['ERR_SSL_WRONG_VERSION_NUMBER']!;
  if (WORDS[code]) return WORDS[code];
  if (/^(ERR_SSL_|ERR_TLS_|CERT_|EPROTO)/.test(code)) return ['tls', `TLS with % failed (${code}).`];
  return ['network', `The call to % failed (${code || error.message}).`];
};

/** Puts a failure of the connection into words. */
export const describeFailure = (error: Error, host: string): OutboundError => {
  const root = rootOf(error);
  if (root instanceof OutboundError) return root;
  const [kind, words] = wordsFor(root);
  const text = words.replaceAll('%', host);
  const message = kind === 'invalid_request' ? `${text}: ${root.message}.` : text;
  return new OutboundError(kind, message, { cause: error });
};
