import { ModelError } from './modelFailure.ts';

/** Far more than any answer of a model, and little enough to hold in memory. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * The SDK waits at most this long. If a server asks for more, the SDK ignores it and retries too
 * early.
 */
const MAX_WAIT_MS = 60_000;

const ALLOWED_HEADERS = ['accept', 'authorization', 'content-type', 'user-agent'];

/**
 * `fetch` for a server that may be broken or hostile: follows no redirect, reads at most
 * MAX_ANSWER_BYTES of an answer, and prevents a retry that would come after `deadlineAt`
 * (milliseconds as of `performance.now()`). Sends only the headers that the API needs, and none of
 * the SDK's headers about this machine.
 */
export const modelFetch =
  (deadlineAt: number): typeof fetch =>
  async (url, init) => {
    const response = await fetch(url, {
      ...init,
      headers: allowedHeaders(init?.headers),
      redirect: 'manual',
    });
    const headers = new Headers(response.headers);
    if (requestedWaitMs(headers) > Math.min(deadlineAt - performance.now(), MAX_WAIT_MS))
      headers.set('x-should-retry', 'false');
    return new Response(response.body?.pipeThrough(limitBytes(MAX_ANSWER_BYTES)) ?? null, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  };

function allowedHeaders(given: ConstructorParameters<typeof Headers>[0]): Headers {
  const headers = new Headers(given);
  for (const name of [...headers.keys()]) if (!ALLOWED_HEADERS.includes(name)) headers.delete(name);
  return headers;
}

/** Reads `retry-after-ms`, which the SDK knows too, else `retry-after` in seconds or as a date. */
function requestedWaitMs(headers: Headers): number {
  const exactMs = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (!Number.isNaN(exactMs)) return exactMs;
  const given = headers.get('retry-after') ?? '';
  const seconds = Number.parseFloat(given);
  const wait = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? 0 : wait;
}

function limitBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        controller.error(
          new ModelError(`The model's answer is larger than ${maxBytes / 1024 / 1024} MiB.`),
        );
      else controller.enqueue(chunk);
    },
  });
}
