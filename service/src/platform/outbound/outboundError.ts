/**
 * Why a call to a customer's address failed.
 * - `blocked_address`, `not_https`, `invalid_url`: refused by our own rules, nothing was sent
 * - `invalid_request`: the request itself cannot be written (a header HTTP forbids), nothing was
 *   sent
 * - `busy`: too many names wait to be looked up; nothing was sent, and a retry may succeed
 * - `unresolvable`, `timeout`, `network`, `tls`: may be temporary, and a retry may succeed
 * - `too_large`: the body or the headers of the answer are larger than the limit
 * - `redirect`: the answer points somewhere we do not follow
 */
export type OutboundErrorKind =
  | 'blocked_address'
  | 'not_https'
  | 'invalid_url'
  | 'invalid_request'
  | 'busy'
  | 'unresolvable'
  | 'timeout'
  | 'network'
  | 'tls'
  | 'too_large'
  | 'redirect';

/**
 * A failed outbound call. `message` is a sentence for the operator, without the URL's path, query
 * or secrets.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundErrorKind;
  /**
   * What the receiver's operator can do about it, in a sentence or two. Empty when the message says
   * everything.
   */
  readonly advice: string;

  constructor(
    kind: OutboundErrorKind,
    message: string,
    { advice = '', ...options }: ErrorOptions & { advice?: string } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.advice = advice;
  }
}

/**
 * Whether a call that our rules allow failed before there was a connection, so that the receiver
 * has seen nothing of it. Only for calls without redirects: an earlier hop may have been sent.
 */
export function isUnsent({ kind, cause }: OutboundError): boolean {
  if (kind === 'unresolvable' || kind === 'busy') return true;
  const errors: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return errors.every((error) => {
    const { syscall, code } = (error ?? {}) as NodeJS.ErrnoException;
    return syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT';
  });
}
