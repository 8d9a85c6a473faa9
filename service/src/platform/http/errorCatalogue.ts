/**
 * Every error that the API returns: code, status and what the caller can do about it. The OpenAPI
 * document and the types are made from this list, and a test compares them.
 */
export const ERROR_CATALOGUE = {
  invalid_json: { status: 400, fix: 'Send a body that is valid JSON in UTF-8.' },
  invalid_request: { status: 400, fix: 'Correct the field that `param` names.' },
  unknown_event: { status: 400, fix: 'Use a name from GET /api/hooks/events.' },
  idempotency_key_not_allowed: {
    status: 400,
    fix: 'Leave the Idempotency-Key header out. This answer shows a secret or waits for one of your systems, so it is not stored.',
  },
  unauthorized: {
    status: 401,
    fix: 'Send a valid API key or chat token as `Authorization: Bearer …`.',
  },
  permission_missing: {
    status: 403,
    fix: 'Create an API key with this permission on the Keys and subscriptions screen, and use that one.',
  },
  not_found: { status: 404, fix: 'Check the id or the path.' },
  method_not_allowed: { status: 405, fix: 'Use a method that the `Allow` header names.' },
  approval_already_decided: {
    status: 409,
    fix: 'The first decision counts. See the decision and the status of the call.',
  },
  channel_exists: {
    status: 409,
    fix: 'Update the channel in `existing_id`, or remove it first.',
  },
  channel_limit_reached: { status: 409, fix: 'Remove a channel that you no longer use.' },
  channel_removed: {
    status: 409,
    fix: 'Connect the account again under Channels. Then you can write to the customer.',
  },
  conversation_closed: {
    status: 409,
    fix: 'A closed conversation takes no changes. The next message from the customer opens a new one.',
  },
  delivery_pending: {
    status: 409,
    fix: 'Wait until the delivery has finished. See `next_attempt_at`.',
  },
  idempotency_key_reused: { status: 409, fix: 'Use a new Idempotency-Key for each new request.' },
  outside_messaging_window: {
    status: 409,
    fix: 'Wait until the customer writes again. The channel takes no messages until then.',
  },
  payment_not_open: {
    status: 409,
    fix: 'See the status of the payment link, and create a new one if you need it.',
  },
  payment_provider_missing: {
    status: 409,
    fix: 'Set the provider up under Payments, or name one that is set up.',
  },
  published_elsewhere: {
    status: 409,
    fix: 'Unpublish it there, let another workflow take over on the page of the subscription, the tool or the agent in the service, or take it over.',
  },
  secret_limit_reached: {
    status: 409,
    fix: 'Revoke the previous secrets (POST /api/hooks/{id}/revoke-previous-secrets), or wait until one expires.',
  },
  subscription_exists: {
    status: 409,
    fix: 'Use the subscription in `existing_id`, or delete it first.',
  },
  subscription_limit_reached: {
    status: 409,
    fix: 'Unpublish a workflow, or delete a subscription, that you no longer use.',
  },
  tool_exists: {
    status: 409,
    fix: 'Choose another name, or update the tool in `existing_id`.',
  },
  tool_limit_reached: { status: 409, fix: 'Delete a tool that you no longer use.' },
  tool_not_tested: {
    status: 409,
    fix: 'Make a test call that succeeds (POST …/test), or send `arguments` with go-live.',
  },
  try_without_customer: {
    status: 409,
    fix: 'To see a workflow ask a customer, publish it, and write in the chat.',
  },
  turn_superseded: {
    status: 409,
    fix: 'Nothing was sent. Let the workflow end here: a person is in control now, or the next turn answers.',
  },
  wait_ended: {
    status: 409,
    fix: 'The first decision counts. Read the wait to see how it ended.',
  },
  wait_exists: {
    status: 409,
    fix: 'A customer is asked one question at a time. Wait until the wait in `existing_id` has ended, or cancel it: in the conversation, or with POST /api/waits/{id}/cancel.',
  },
  wait_limit_reached: {
    status: 409,
    fix: 'Cancel waits that nobody needs any more, and let new ones expire sooner.',
  },
  wait_not_ended: {
    status: 409,
    fix: 'Nobody has answered yet. The service calls `resume_url` when the wait has ended.',
  },
  wait_superseded: {
    status: 409,
    fix: 'The execution waits for the one in `existing_id`. Ignore this one.',
  },
  body_too_large: { status: 413, fix: 'Send at most 256 KiB.' },
  unsupported_media_type: { status: 415, fix: 'Send `Content-Type: application/json`, UTF-8.' },
  payment_refused: {
    status: 422,
    fix: 'Correct what the payment provider names, or check its keys under Payments.',
  },
  target_url_invalid: {
    status: 422,
    fix: 'Use an absolute https:// URL without a user name or password.',
  },
  target_url_not_https: {
    status: 422,
    fix: 'Use an https:// URL. If n8n runs on this machine or in a private network, say so under Settings of the service.',
  },
  target_url_not_public: {
    status: 422,
    fix: 'Use a public address. If n8n runs there, say so under Settings of the service. ALLOWED_NETWORKS opens other private networks.',
  },
  target_url_unresolvable: { status: 422, fix: 'Check the host name. It has no IP address.' },
  rate_limited: { status: 429, fix: 'Wait for the number of seconds in Retry-After.' },
  internal: { status: 500, fix: 'Try again. If it keeps failing, report the `request_id`.' },
  unavailable: { status: 503, fix: 'Try again after the number of seconds in Retry-After.' },
} as const satisfies Record<string, { status: number; fix: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

interface ErrorDetails {
  /** The path of the wrong field: `text`, `parameters.type`. */
  readonly param?: string;
  readonly existingId?: string;
  readonly retryAfterSeconds?: number;
  /** True when a bound refused the request. The log names the bound, not each request. */
  readonly isAtBound?: boolean;
}

/** An error that a caller can act on. Its message says what happened, then what to do. */
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

/** An error whose message ends with what the catalogue says to do. @param what what happened */
export const errorWithFix = (code: ErrorCode, what: string, details?: ErrorDetails): AppError =>
  new AppError(code, `${what} ${ERROR_CATALOGUE[code].fix}`, details);

/** A missing record and one of another workspace get the same error. */
export const notFound = (what: string, id: string): AppError =>
  errorWithFix('not_found', `There is no ${what} ${JSON.stringify(id.slice(0, 64))} here.`);

/** The form of every error in an answer. JSON leaves out undefined fields. */
export const errorJson = ({ code, message, details }: AppError, requestId: string) => ({
  error: {
    code,
    message,
    param: details.param,
    existing_id: details.existingId,
    request_id: requestId,
  },
});
