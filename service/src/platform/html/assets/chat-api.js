// The service's chat endpoints.

const TIMEOUT_MS = 20_000;
/** A request that has to wait for a daily limit is tried earlier too: there may be room again. */
const MAX_RETRY_MS = 60_000;

/** The service refused a request. */
export class Refusal extends Error {
  constructor(status, error, retryAfterMs) {
    super(error?.message ?? `The service answered ${status}.`);
    this.status = status;
    this.param = error?.param;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request can succeed later. */
  get isPassing() {
    return this.status === 429 || this.status === 408 || this.status >= 500;
  }
}

/** @returns the refusal in a response */
export async function refusalOf(response) {
  const body = await response.json().catch(() => null);
  const seconds = Number(response.headers.get('retry-after'));
  return new Refusal(
    response.status,
    body?.error,
    seconds > 0 ? Math.min(seconds * 1000, MAX_RETRY_MS) : null,
  );
}

/** @throws Refusal when the service refuses; other errors when it cannot be reached */
async function call(method, path, { token, body } = {}) {
  const response = await fetch(`/api/chat${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw await refusalOf(response);
  return response.json();
}

/** @returns the token of a new visitor */
export const startSession = async (claims) =>
  (await call('POST', '/sessions', { body: claims })).token;

/** Sending the same id twice stores one message. */
export const sendMessage = (token, { id, text }) =>
  call('POST', '/messages', { token, body: { text, client_message_id: id } });

/**
 * The messages so far, oldest first.
 * @param afterId only messages after this one; all when null
 */
export async function* history(token, afterId = null) {
  let cursor = afterId;
  do {
    const page = await call(
      'GET',
      `/messages?limit=200${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      { token },
    );
    yield* page.data;
    cursor = page.next_cursor;
  } while (cursor !== null);
}
