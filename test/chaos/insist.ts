import { setTimeout as sleep } from 'node:timers/promises';
import { apiClient, type ApiAnswer, type ApiClient } from '../helpers/apiClient.ts';

const AGAIN_MS = 25;
/** A call whose process was killed may hang on a socket that nobody closes. */
const PATIENCE_MS = 5000;

/**
 * Asks until there is an answer other than a 503.
 * @param again called before each repetition
 */
export async function insist(
  ask: () => Promise<ApiAnswer>,
  again: () => void = () => {},
): Promise<ApiAnswer> {
  for (;;) {
    const answer = await Promise.race([ask().catch(() => null), sleep(PATIENCE_MS, null)]);
    if (answer !== null && answer.status !== 503) return answer;
    again();
    await sleep(AGAIN_MS);
  }
}

/** @returns the body. @throws Error for an answer with another status */
export function bodyOf(
  { status, body }: ApiAnswer,
  wanted: number,
  what: string,
): ApiAnswer['body'] {
  if (status !== wanted)
    throw new Error(`${what} was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** For processes that share the work: a function that gives a client of the next one each time. */
export function clientsOf(urls: readonly string[]): (token: string | null) => ApiClient {
  let calls = 0;
  return (token) => apiClient(urls[calls++ % urls.length]!, token);
}
