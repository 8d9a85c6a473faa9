/**
 * Why a call to a customer's address failed.
 * - `blocked_address`, `not_https`, `invalid_url`: refused by our own rules, nothing was sent
 * - `invalid_request`: the request itself cannot be written (a header HTTP forbids), nothing was
 *   sent
 * - `busy`: too much waits here just now; nothing was sent, worth another attempt
 * - `unresolvable`, `timeout`, `network`, `tls`: may pass by itself, worth another attempt
 * - `too_large`: the answer, or its headers, are larger than what is read
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
 * A failed outbound call; `message` is a sentence for the operator, without path, query or secrets
 * of the URL.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundErrorKind;
  /**
   * What the one who runs the receiver can do about it, a sentence or two; empty when the message
   * says all.
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
