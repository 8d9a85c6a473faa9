import { ModelError } from './modelFailure.ts';

/** Far beyond any answer of a model, far below what hurts. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** The SDK waits for no longer than this; a server that asks for more would be asked too early. */
const MAX_WAIT_MS = 60_000;

const SENT_HEADERS = ['accept', 'authorization', 'content-type', 'user-agent'];

/**
 * `fetch` for a server that may be broken or hostile: follows no redirect, reads at most
 * MAX_ANSWER_BYTES of an answer, and asks for no retry that would come after `deadlineAt`
 * (milliseconds as of `performance.now()`). Sends what the API needs and none of the SDK's
 * headers about this machine.
 */
export const modelFetch =
  (deadlineAt: number): typeof fetch =>
  async (url, init) => {
    const response = await fetch(url, {
      ...init,
      headers: onlySent(init?.headers),
      redirect: 'manual',
    });
    const headers = new Headers(response.headers);
    if (waitAskedFor(headers) > Math.min(deadlineAt - performance.now(), MAX_WAIT_MS))
      headers.set('x-should-retry', 'false');
    return new Response(response.body?.pipeThrough(atMost(MAX_ANSWER_BYTES)) ?? null, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  };

function onlySent(given: ConstructorParameters<typeof Headers>[0]): Headers {
  const headers = new Headers(given);
  for (const name of [...headers.keys()]) if (!SENT_HEADERS.includes(name)) headers.delete(name);
  return headers;
}

/** Of Retry-After in either spelling, and of the SDK's own finer one. */
function waitAskedFor(headers: Headers): number {
  const fine = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (!Number.isNaN(fine)) return fine;
  const given = headers.get('retry-after') ?? '';
  const seconds = Number.parseFloat(given);
  const wait = Number.isNaN(seconds) ? Date.parse(given) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? 0 : wait;
}

function atMost(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
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
