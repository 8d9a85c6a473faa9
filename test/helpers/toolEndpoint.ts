// A custom tool's own system: a real https server that answers as scripted and checks every call it
// gets.
import { chatCustomer, type ApiAnswer, type ApiClient, type ChatCustomer } from './apiClient.ts';
import { signatureFault } from './eventReceiver.ts';
import {
  startTlsReceiver,
  type ReceivedRequest,
  type ReceiverHandler,
  type TlsReceiver,
} from './tls.ts';
import { waitFor } from './waitFor.ts';

/** What a call is answered with: a status, a JSON body with 200, or whatever a handler does. */
export type Answer =
  | number
  | { readonly json: unknown; readonly status?: number }
  | ReceiverHandler;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- looked at field by field in the tests
type Json = any;

export interface DefinedTool {
  readonly id: string;
  readonly name: string;
  /** Of the Webhook kind; null otherwise. */
  readonly secret: string | null;
  /** Where the endpoint is called. */
  readonly path: string;
}

export interface ToolEndpoint extends TlsReceiver {
  /** Answers of the next calls to a path, in order; after them 200 `{"ok":true}`. */
  answer(path: string, ...answers: Answer[]): void;
  /** The answer to every call of a path for which `answer` has none left. */
  answerAlways(path: string, answer: Answer): void;
  /** What was called at a path, oldest first. */
  at(path: string): readonly ReceivedRequest[];
  /** The envelopes that came to a path, oldest first. */
  envelopes(path: string): readonly Json[];
  /** Forgets what was called so far. */
  forget(): void;
  /** Checks each call of a path from then on as docs/events-and-signatures.md tells a receiver to. */
  verify(path: string, secret: string): void;
  /** What was wrong with calls, in words. */
  readonly faults: readonly string[];
  /**
   * Defines a Webhook tool that calls this endpoint, and verifies its calls. It is read-only: the
   * keyword agent calls it without asking the customer.
   */
  define(
    api: ApiClient,
    fields: { readonly name: string } & Record<string, unknown>,
    path?: string,
  ): Promise<DefinedTool>;
  /** Defines an HTTP tool that calls this endpoint; `x-call` carries the call's id. */
  defineHttp(
    api: ApiClient,
    fields: { readonly name: string } & Record<string, unknown>,
    path?: string,
  ): Promise<DefinedTool>;
}

/**
 * Makes the worker of tool calls look for calls that are due after a test has moved its clock, by
 * calling another tool.
 */
export async function wakeToolCalls(api: ApiClient, endpoint: ToolEndpoint): Promise<void> {
  const { id } = await endpoint.define(api, { name: 'wake_up' }, '/wake_up');
  await api.post(`/api/tools/${id}/test`, { arguments: {} });
  await api.delete(`/api/tools/${id}`);
}

export const hang: Answer = () => {};

export const reset: Answer = (_request, _response, raw) => void raw.socket.destroy();

/** The headers, the beginning of a body, and then nothing. */
export const hangInBody: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"ok":');
};

/** A body that comes byte by byte and never ends. */
export const drip: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** Any bytes under any headers. */
export const body =
  (
    bytes: string | Buffer,
    headers: Record<string, string> = { 'content-type': 'application/json' },
    status = 200,
  ): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(bytes);

/** A JSON text of exactly so many bytes. */
export const jsonOf = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

export const redirect = (location: string, status = 302): Answer => body('', { location }, status);

const ok: Answer = { json: { ok: true } };

/** Starts the endpoint on a free port of this machine. */
export async function startToolEndpoint(
  options: Parameters<typeof startTlsReceiver>[1] = {},
): Promise<ToolEndpoint> {
  const scripts = new Map<string, Answer[]>();
  const standing = new Map<string, Answer>();
  const secrets = new Map<string, string>();
  const faults: string[] = [];
  const receiver = await startTlsReceiver((request, response, raw) => {
    const path = request.path.split('?')[0]!;
    const secret = secrets.get(path);
    if (secret !== undefined) faults.push(...faultsOf(request, secret));
    const next = scripts.get(path)?.shift() ?? standing.get(path) ?? ok;
    if (typeof next === 'function') return next(request, response, raw);
    const { status = 200, json } =
      typeof next === 'number' ? { status: next, json: { status: next } } : next;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  }, options);

  const at = (path: string) =>
    receiver.requests.filter((request) => request.path.split('?')[0] === path);
  const create = async (
    api: ApiClient,
    fields: Record<string, unknown>,
    path: string,
  ): Promise<DefinedTool> => {
    const { status, body: tool } = await api.post('/api/tools', fields);
    if (status !== 201) throw new Error(`not defined: ${JSON.stringify(tool)}`);
    secrets.delete(path);
    if (tool.secret !== null) secrets.set(path, tool.secret);
    return { id: tool.id, name: tool.name, secret: tool.secret, path };
  };
  return Object.assign(receiver, {
    faults,
    at,
    answer: (path: string, ...answers: Answer[]) => void scripts.set(path, answers),
    answerAlways: (path: string, answer: Answer) => void standing.set(path, answer),
    envelopes: (path: string) =>
      at(path).map(({ rawBody }) => JSON.parse(rawBody.toString()) as Json),
    forget: () => void receiver.requests.splice(0),
    verify: (path: string, secret: string) => void secrets.set(path, secret),
    define: (
      api: ApiClient,
      fields: { readonly name: string } & Record<string, unknown>,
      path = `/${fields.name}`,
    ) =>
      create(
        api,
        {
          description: `Tool ${fields.name}.`,
          kind: 'Webhook',
          endpoint: receiver.url + path,
          timeout: 10,
          read_only: true,
          ...fields,
        },
        path,
      ),
    defineHttp(
      api: ApiClient,
      fields: { readonly name: string } & Record<string, unknown>,
      path = `/${fields.name}`,
    ) {
      const template = {
        method: 'POST',
        url: receiver.url + path,
        headers: { 'x-call': '{{call.id}}' },
      };
      return create(
        api,
        {
          description: `Tool ${fields.name}.`,
          kind: 'HTTP',
          request_template: template,
          timeout: 10,
          read_only: true,
          ...fields,
        },
        path,
      );
    },
  });
}

const ENVELOPE = ['arguments', 'conversation_id', 'tool', 'tool_call_id'];

function faultsOf(request: ReceivedRequest, secret: string): string[] {
  const faults = [signatureFault(request, secret)];
  if (request.method !== 'POST') faults.push(`the method is ${request.method}`);
  if (request.headers['content-type'] !== 'application/json')
    faults.push(`Content-Type is ${request.headers['content-type']}`);
  const names = namesIn(request.rawBody.toString());
  if (names !== ENVELOPE.join()) faults.push(`the envelope has ${names}`);
  return faults.filter((fault) => fault !== null);
}

function namesIn(text: string): string {
  try {
    return Object.keys(JSON.parse(text) as object)
      .sort()
      .join();
  } catch {
    return 'no JSON';
  }
}

/**
 * Makes the test call that going live needs, lets the tool go live, and switches the agent on, which
 * then calls it.
 */
export async function makeLive(
  api: ApiClient,
  { id }: Pick<DefinedTool, 'id'>,
  args: Record<string, unknown> = {},
): Promise<void> {
  let test: ApiAnswer;
  do test = await api.post(`/api/tools/${id}/test`, { arguments: args });
  while (test.body.error?.type === 'timeout'); // one second may be too short on a busy machine
  if (test.body.status !== 'succeeded')
    throw new Error(`the test failed: ${JSON.stringify(test.body)}`);
  const live = await api.post(`/api/tools/${id}/go-live`, {});
  if (live.body.status !== 'live') throw new Error(`not live: ${JSON.stringify(live.body)}`);
  await api.patch('/api/agent', { enabled: true });
}

/** Settings with which calls of tools are quick to test: real waits, but short ones. */
export const TOOL_TEST_ENV = { TOOL_RETRY_DELAYS_MS: '10,20', AGENT_QUIET_MS: '0' };

/** What the agent has said in a chat so far. */
export const saidByAgent = async (customer: ChatCustomer): Promise<string[]> =>
  (await customer.read())
    .filter(({ from }: Json) => from === 'agent')
    .map(({ text }: Json) => text as string);

/** Waits for the nth (from 1) message of the agent in a chat. */
export const agentSays = (customer: ChatCustomer, nth = 1): Promise<string> =>
  waitFor(`message ${nth} of the agent`, async () => (await saidByAgent(customer))[nth - 1], {
    everyMs: 10,
  });

/**
 * A customer asks for what a tool does, in the words of its name, which is enough for the keyword
 * agent.
 */
export async function ask(
  url: string,
  { name }: Pick<DefinedTool, 'name'>,
  more = '',
  claims: Record<string, unknown> = {},
): Promise<{ customer: ChatCustomer; conversationId: string }> {
  const customer = await chatCustomer(url, claims);
  const { conversation_id: conversationId } = await customer.write(
    `${name.replaceAll('_', ' ')} ${more}`.trim(),
  );
  return { customer, conversationId };
}

/** The newest call of a conversation, or of a tool, as the API shows it. */
export async function newestCall(api: ApiClient, query: string): Promise<Json> {
  const { body: page } = await api.get(`/api/tool-calls?limit=1&${query}`);
  return page.data[0] && (await api.get(`/api/tool-calls/${page.data[0].tool_call_id}`)).body;
}

/** Waits until the newest call is in one of these statuses. */
export const callIn = (api: ApiClient, query: string, ...statuses: string[]): Promise<Json> =>
  waitFor(
    `a call that is ${statuses.join(' or ')}`,
    async () => {
      const call = await newestCall(api, query);
      return call && statuses.includes(call.status) ? call : null;
    },
    { everyMs: 10 },
  );
