/**
 * Every error that the API answers: code, status and what a caller does about it.
 * The OpenAPI document and the types are made from this list; a test holds them together.
 */
export const ERROR_CATALOGUE = {
  invalid_json: { status: 400, fix: 'Send a body that is valid JSON in UTF-8.' },
  invalid_request: { status: 400, fix: 'Correct the field that `param` names.' },
  unknown_event: { status: 400, fix: 'Use a name from GET /api/hooks/events.' },
  idempotency_key_not_allowed: {
    status: 400,
    fix: 'Leave the Idempotency-Key header out: this answer shows a secret, or waits for a system of yours, and is not kept.',
  },
  unauthorized: { status: 401, fix: 'Send a valid key or token as `Authorization: Bearer …`.' },
  not_found: { status: 404, fix: 'Check the id or address.' },
  method_not_allowed: { status: 405, fix: 'Use a method that the `Allow` header names.' },
  approval_already_decided: {
    status: 409,
    fix: 'The first decision counts; see decision and status of the call.',
  },
  channel_exists: {
    status: 409,
    fix: 'Change the channel that `existing_id` names, or remove it first.',
  },
  channel_limit_reached: { status: 409, fix: 'Remove a channel that is no longer used.' },
  channel_removed: {
    status: 409,
    fix: 'Connect the account again under Channels; then the customer can be written to.',
  },
  conversation_closed: {
    status: 409,
    fix: 'The conversation is closed; a new message of the customer opens a new one.',
  },
  delivery_pending: {
    status: 409,
    fix: 'Wait until the delivery has finished; see next_attempt_at.',
  },
  idempotency_key_reused: { status: 409, fix: 'Use a new Idempotency-Key for a new request.' },
  outside_messaging_window: {
    status: 409,
    fix: 'Wait until the customer writes again; the channel takes no other messages until then.',
  },
  payment_not_open: {
    status: 409,
    fix: 'See the status of the payment link; make a new one if it is needed.',
  },
  payment_provider_missing: {
    status: 409,
    fix: 'Set the provider up under Payments, or name one that is.',
  },
  published_elsewhere: {
    status: 409,
    fix: 'Unpublish or pause it first, or choose another name. To take it over, send take_over: true (in n8n: the option Take Over From Another Instance).',
  },
  secret_limit_reached: {
    status: 409,
    fix: 'End the overlap with revoke-previous-secrets, or wait until a replaced secret expires.',
  },
  subscription_exists: {
    status: 409,
    fix: 'Use the subscription that `existing_id` names, or delete it first.',
  },
  subscription_limit_reached: { status: 409, fix: 'Delete a subscription that is no longer used.' },
  tool_exists: {
    status: 409,
    fix: 'Choose another name, or change the tool that `existing_id` names.',
  },
  tool_limit_reached: { status: 409, fix: 'Delete a tool that is no longer used.' },
  tool_not_tested: {
    status: 409,
    fix: 'Make a test call that succeeds (POST …/test), or give sample arguments to go-live.',
  },
  body_too_large: { status: 413, fix: 'Send at most 256 KiB.' },
  unsupported_media_type: { status: 415, fix: 'Send `Content-Type: application/json`, UTF-8.' },
  payment_refused: {
    status: 422,
    fix: 'Correct what the payment provider says, or check its keys under Payments.',
  },
  target_url_invalid: {
    status: 422,
    fix: 'Give an absolute https:// address without user name or password.',
  },
  target_url_not_https: { status: 422, fix: 'Give an https:// address.' },
  target_url_not_public: {
    status: 422,
    fix: 'Give a publicly reachable address; a private network of your own must stand in ALLOWED_NETWORKS.',
  },
  target_url_unresolvable: { status: 422, fix: 'Check the host name; it has no address.' },
  rate_limited: { status: 429, fix: 'Wait for the seconds that Retry-After names.' },
  internal: { status: 500, fix: 'Try again; report the request_id if it stays.' },
  unavailable: { status: 503, fix: 'Try again after the seconds that Retry-After names.' },
} as const satisfies Record<string, { status: number; fix: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export interface ErrorDetails {
  /** The field at fault, as a path: `text`, `parameters.type`. */
  readonly param?: string;
  readonly existingId?: string;
  readonly retryAfterSeconds?: number;
  /** A bound refused it: the bound is counted and told of, each request is not. */
  readonly isAtBound?: boolean;
}

/** An error a caller can act on. Its message says what was wrong and what to do. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return ERROR_CATALOGUE[this.code].status;
  }
}

/** What is missing and what belongs to another workspace read the same. */
export const notFound = (what: string, id: string): AppError =>
  new AppError(
    'not_found',
    `There is no ${what} ${JSON.stringify(id.slice(0, 64))} here. ${ERROR_CATALOGUE.not_found.fix}`,
  );
