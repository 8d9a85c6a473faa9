import { randomUUID } from 'node:crypto';
import { ERROR_CATALOGUE, type ErrorCode } from '../../service/src/platform/http/errorCatalogue.ts';
import { operationsAt } from '../../service/src/app/api/paths.ts';
import { errorSchema } from '../../service/src/platform/http/schemas.ts';
import { errorsOf } from '../../service/src/app/api/openapi.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are checked against the contract at run time
type Json = any;

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface ApiClient {
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer>;
  get(path: string): Promise<ApiAnswer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
  put(path: string, body?: unknown): Promise<ApiAnswer>;
  patch(path: string, body?: unknown): Promise<ApiAnswer>;
  delete(path: string): Promise<ApiAnswer>;
}

/**
 * Calls the API over real HTTP and checks each answer against the contract that the service
 * publishes.
 */
export function apiClient(url: string, token: string | null): ApiClient {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> => {
    const raw = typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : (JSON.parse(text) as Json),
    };
    if (path.startsWith('/api/')) checkAgainstContract(method, new URL(path, url).pathname, answer);
    return answer;
  };
  return {
    call,
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}

/** @throws Error when an answer is not what the contract says */
function checkAgainstContract(
  method: string,
  path: string,
  { status, headers, body }: ApiAnswer,
): void {
  const operation = operationsAt(path).find((each) => each.method === method.toLowerCase());
  if (!/^req_[0-9A-Z]{26}$/.test(headers.get('x-request-id') ?? ''))
    throw new Error(`${method} ${path}: no X-Request-Id`);
  if (status < 400) {
    if (!operation) return;
    if (status !== (operation.continues?.(body) ? 202 : operation.status))
      throw new Error(`${method} ${path}: ${status} instead of ${operation.status}`);
    operation.answer.parse(body);
    return;
  }
  const { error } = errorSchema.parse(body);
  const known = ERROR_CATALOGUE[error.code as ErrorCode] as { status: number } | undefined;
  if (known?.status !== status)
    throw new Error(
      `${method} ${path}: ${error.code} with status ${status} is not in the catalogue`,
    );
  if (operation && !errorsOf(operation).includes(error.code as ErrorCode)) {
    throw new Error(
      `${method} ${path}: ${error.code} is not among the errors that the document lists for it`,
    );
  }
}

export interface ChatCustomer {
  readonly contactId: string;
  readonly api: ApiClient;
  readonly token: string;
  /** @returns the conversation and message ids */
  write(
    text: string,
    clientMessageId?: string,
  ): Promise<{ conversation_id: string; message_id: string }>;
  read(): Promise<Json[]>;
}

/** All messages of a chat, page by page. */
export async function readWholeChat(
  api: ApiClient,
  limit = 200,
): Promise<{ id: string; text: string }[]> {
  const all: { id: string; text: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await api.get(`/api/chat/messages?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    all.push(...page.body.data);
    cursor = page.body.next_cursor;
  }
  return all;
}

/** A customer who arrives in the web chat. */
export async function chatCustomer(
  url: string,
  claims: Record<string, unknown> = {},
): Promise<ChatCustomer> {
  const { status, body } = await apiClient(url, null).post('/api/chat/sessions', claims);
  if (status !== 201) throw new Error(`no chat session: ${JSON.stringify(body)}`);
  const api = apiClient(url, body.token);
  return {
    contactId: body.contact_id,
    token: body.token,
    api,
    async write(text, clientMessageId = randomUUID()) {
      const sent = await api.post('/api/chat/messages', {
        text,
        client_message_id: clientMessageId,
      });
      if (sent.status !== 202) throw new Error(`not accepted: ${JSON.stringify(sent.body)}`);
      return sent.body;
    },
    read: async () => (await api.get('/api/chat/messages')).body.data,
  };
}
