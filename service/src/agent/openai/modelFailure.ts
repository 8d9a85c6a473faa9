import { describeFailure } from '../../platform/outbound/describeFailure.ts';
import { cutText } from '../cutText.ts';
import { cleanText } from './modelText.ts';

/** Why the language model gave no step: a sentence for the log, without the key and the request. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}

const MAX_SERVER_MESSAGE_CHARACTERS = 200;

export interface ModelServer {
  readonly host: string;
  readonly model: string;
  readonly apiKey: string | undefined;
}

/**
 * Turns an error of the SDK into a sentence that names the setting to check. The original is not kept
 * as its cause, because it holds headers.
 */
export function describeModelFailure(error: unknown, server: ModelServer): ModelError {
  if (error instanceof ModelError) return error;
  const { status, cause } = error as { status?: number; cause?: Error };
  const sentence =
    status === undefined
      ? connectionSentence(cause ?? error, server)
      : statusSentence(status, error, server);
  return new ModelError(withoutKey(sentence, server));
}

function statusSentence(status: number, error: unknown, server: ModelServer): string {
  if (status === 401 || status === 403) {
    // The server's own message often repeats a part of the key.
    return server.apiKey === undefined
      ? `The model's server asks for a key (${status}): set LLM_API_KEY.`
      : `The model's server refused the key (${status}): check LLM_API_KEY.`;
  }
  const words = serverWords(error, server);
  if (status < 400)
    return `The model's server answers with a redirect (${status}): set LLM_BASE_URL to the address that it leads to.`;
  if (status === 404)
    return `The model's server knows no such model or address (404): check LLM_MODEL ("${server.model}") and LLM_BASE_URL${words}`;
  if (status === 429)
    return `The model's server takes no more requests now (429): its rate limit or the account's quota is reached${words}`;
  if (status >= 500) return `The model's server failed (${status})${words}`;
  return `The model's server refused the request (${status})${words}`;
}

/**
 * `: <what it said>`, in one line; '.' when it said nothing. The key is removed before the text is
 * cut, since a part of it would not be recognised.
 */
function serverWords(error: unknown, server: ModelServer): string {
  const { error: body } = error as { error?: unknown };
  const message =
    typeof body === 'string' ? body : (body as { message?: unknown } | null | undefined)?.message;
  const words =
    typeof message === 'string'
      ? cleanText(message)
          .replace(/[\s\p{Cc}]+/gu, ' ')
          .trim()
      : '';
  return words === ''
    ? '.'
    : `: ${cutText(withoutKey(words, server), MAX_SERVER_MESSAGE_CHARACTERS)}`;
}

/** `fetch` wraps what went wrong in an error without a code. */
function connectionSentence(error: unknown, { host }: ModelServer): string {
  const root = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  if (root.name === 'ModelError') return root.message;
  if (root.code === undefined) return `The call to ${host} failed: check LLM_BASE_URL.`;
  return `${describeFailure(root, host).message} LLM_BASE_URL says where the model is.`;
}

const withoutKey = (sentence: string, { apiKey }: ModelServer): string =>
  apiKey ? sentence.replaceAll(apiKey, '[key]') : sentence;
