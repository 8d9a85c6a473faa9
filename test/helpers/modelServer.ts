// A language model's server on this machine: the wire format of POST /v1/chat/completions, with
// OpenAI's own strictness.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { chatRequestFault, type ReceivedChat } from './chatRequestFault.ts';
import { readJson, respondJson, writeForEver } from './jsonServer.ts';
import { listenTracked, type TrackedServer } from './trackedServer.ts';

export type { ReceivedChat, ReceivedMessage } from './chatRequestFault.ts';

/** A request that was valid, as it came. */
export interface ModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: ReceivedChat;
}

/** Writes one answer. */
export type ModelReply = (res: ServerResponse, request: ModelRequest) => void;

export interface ModelServer extends TrackedServer {
  /** `http://127.0.0.1:<port>/v1` */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  /** Every valid request, oldest first; the answers to them may have been errors. */
  readonly requests: readonly ModelRequest[];
  /** What was wrong with requests that OpenAI would have refused; a good client leaves it empty. */
  readonly faults: readonly string[];
  /** Answers of the next requests, in order; they come before `answerBy`. */
  answerWith(...replies: ModelReply[]): void;
  /** Chooses the answer by the request, when `answerWith` has none left. */
  answerBy(script: (request: ModelRequest) => ModelReply): void;
}

export interface ModelServerOptions {
  /** Null: a self-hosted server that needs no key and refuses one. */
  readonly apiKey?: string | null;
  readonly model?: string;
  readonly port?: number;
  /** Also accepts what OpenAI accepts but compatible servers may refuse. */
  readonly isOpenAi?: boolean;
}

/**
 * Starts the server on a free port. A request without an answer scripted for it gets a 400 that
 * says so.
 */
export async function startModelServer({
  apiKey = 'sk-test-0123456789abcdef',
  model = 'test-model',
  port = 0,
  isOpenAi = false,
}: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const faults: string[] = [];
  const queue: ModelReply[] = [];
  let script: (request: ModelRequest) => ModelReply = () =>
    badRequest('no answer is scripted for this request');

  const refuse = (res: ServerResponse, request: ModelRequest, reply: ModelReply, fault: string) => {
    faults.push(fault);
    reply(res, request);
  };
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    const request = { headers: req.headers, body: (await readJson(req)) as ReceivedChat };
    if (req.method !== 'POST' || req.url !== '/v1/chat/completions')
      return refuse(
        res,
        request,
        httpError(404, `Invalid URL (${req.method} ${req.url})`),
        `${req.method} ${req.url}`,
      );
    if (req.headers.authorization !== (apiKey === null ? undefined : `Bearer ${apiKey}`)) {
      return refuse(
        res,
        request,
        httpError(401, `Incorrect API key provided: ${req.headers.authorization}`),
        'wrong key',
      );
    }
    const fault = chatRequestFault(req.headers, request.body, isOpenAi);
    if (fault !== null) return refuse(res, request, badRequest(fault), fault);
    if (request.body.model !== model)
      return refuse(
        res,
        request,
        httpError(404, `The model '${request.body.model}' does not exist`),
        'unknown model',
      );
    requests.push(request);
    (queue.shift() ?? script(request))(res, request);
  };

  const server = createServer((req, res) => void handle(req, res).catch(() => res.destroy()));
  const tracked = await listenTracked(server, port, '127.0.0.1');
  return Object.assign(tracked, {
    url: `http://127.0.0.1:${tracked.port}/v1`,
    apiKey: apiKey ?? '',
    model,
    requests,
    faults,
    answerWith: (...replies: ModelReply[]) => void queue.push(...replies),
    answerBy: (next: (request: ModelRequest) => ModelReply) => {
      script = next;
    },
  });
}

// --- Answers ---------------------------------------------------------------

let completions = 0;
const completionOf = (model: string, choices: unknown[]) => ({
  id: `chatcmpl-${++completions}`,
  object: 'chat.completion',
  created: Math.floor(Date.now() / 1000),
  model,
  choices,
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

interface Choice {
  readonly message: Record<string, unknown>;
  readonly finish_reason?: string | null;
}

/** A completion with this one choice, however odd. */
export const choice =
  ({ message, finish_reason = 'stop' }: Choice): ModelReply =>
  (res, request) =>
    respondJson(
      res,
      200,
      completionOf(request.body.model, [
        {
          index: 0,
          message: { role: 'assistant', refusal: null, ...message },
          logprobs: null,
          finish_reason,
        },
      ]),
    );

export const text = (content: string, finish_reason = 'stop'): ModelReply =>
  choice({ message: { content }, finish_reason });

interface ScriptedCall {
  readonly name: string;
  /** A text goes out as it is, malformed or not. */
  readonly arguments?: unknown;
}

let calls = 0;

/**
 * Calls functions, several at once if several are given; `said` is what the model writes beside
 * them.
 */
export const toolCalls = (
  given: ScriptedCall | readonly ScriptedCall[],
  said: string | null = null,
  finish_reason = 'tool_calls',
): ModelReply =>
  choice({
    message: {
      content: said,
      tool_calls: [given].flat().map((call) => ({
        id: `call_${++calls}`,
        type: 'function',
        function: {
          name: call.name,
          arguments:
            typeof call.arguments === 'string'
              ? call.arguments
              : JSON.stringify(call.arguments ?? {}),
        },
      })),
    },
    finish_reason,
  });

export const refusal = (words = "I'm sorry, I can't help with that."): ModelReply =>
  choice({ message: { content: null, refusal: words } });
export const contentFilter = (): ModelReply =>
  choice({ message: { content: '' }, finish_reason: 'content_filter' });
export const emptyChoices = (): ModelReply => (res, request) =>
  respondJson(res, 200, completionOf(request.body.model, []));

/** OpenAI's form of an error. */
export const httpError =
  (status: number, message = `Error ${status}`, headers: Record<string, string> = {}): ModelReply =>
  (res) =>
    respondJson(
      res,
      status,
      {
        error: {
          message,
          type: status === 401 ? 'invalid_request_error' : 'server_error',
          param: null,
          code: null,
        },
      },
      headers,
    );

export const badRequest = (message: string): ModelReply => httpError(400, message);

/** An error that asks for another try in a moment. */
export const temporaryError = (status: number): ModelReply =>
  httpError(status, `Error ${status}`, { 'retry-after-ms': '1' });
export const tooManyRequests = (retryAfterS: number): ModelReply =>
  httpError(429, 'Rate limit reached', { 'retry-after': String(retryAfterS) });

export const raw =
  (body: string, contentType = 'application/json'): ModelReply =>
  (res) =>
    void res.writeHead(200, { 'content-type': contentType }).end(body);

export const redirectTo =
  (location: string): ModelReply =>
  (res) =>
    void res.writeHead(307, { location }).end();

/** Never answers. */
export const hang = (): ModelReply => () => {};

/** Hangs up in the middle of the body. */
export const truncatedBody = (): ModelReply => (res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"id":"chatcmpl-1","choices":[', () => res.destroy());
};

/** A body that comes byte by byte and never ends. */
export const slowDrip =
  (everyMs = 5): ModelReply =>
  (res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => res.write(' '), everyMs);
    res.on('close', () => clearInterval(timer));
  };

/** A body without end, as fast as it is read. */
export const hugeBody =
  (status = 200): ModelReply =>
  (res) =>
    writeForEver(res, status);
