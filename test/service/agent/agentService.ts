// A whole service whose agent asks a scripted language model, and whose tools are real servers on
// this machine.
import { createServer, type ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import {
  apiClient,
  chatCustomer,
  type ApiClient,
  type ChatCustomer,
} from '../../helpers/apiClient.ts';
import {
  startModelServer,
  text,
  type ModelReply,
  type ModelServer,
  type ReceivedMessage,
} from '../../helpers/modelServer.ts';
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../../helpers/service.ts';
import { listenTracked, type TrackedServer } from '../../helpers/trackedServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the client checks answers against the contract
type Json = any;

/** The envelope of one call, as the endpoint received it. */
export interface ReceivedCall {
  readonly tool_call_id: string;
  readonly tool: string;
  readonly arguments: Json;
  readonly conversation_id: string;
}

export type ToolAnswer = (res: ServerResponse, call: ReceivedCall) => void;

export const answers =
  (body: unknown, status = 200): ToolAnswer =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** An answer that is given when the test says so. */
export function held<Args extends unknown[]>(reply: (res: ServerResponse, ...rest: Args) => void) {
  const asked = Promise.withResolvers<undefined>();
  const opened = Promise.withResolvers<undefined>();
  const gone = Promise.withResolvers<undefined>();
  return {
    reply: (res: ServerResponse, ...rest: Args) => {
      res.once('close', () => gone.resolve(undefined));
      asked.resolve(undefined);
      void opened.promise.then(() => reply(res, ...rest));
    },
    /** Resolves once the service waits for the answer. */
    asked: asked.promise,
    /** Gives the answer, and resolves once it has gone out. */
    give: () => {
      opened.resolve(undefined);
      return gone.promise;
    },
  };
}

export interface ToolServer extends TrackedServer {
  readonly calls: ReceivedCall[];
  on(tool: string, answer: ToolAnswer): void;
}

/** Answers `{"ok":true}` unless told otherwise; test calls are answered and not kept. */
async function startToolServer(): Promise<ToolServer> {
  const calls: ReceivedCall[] = [];
  const byTool = new Map<string, ToolAnswer>();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedCall;
      if (call.conversation_id === 'conv_test') return answers({ ok: true })(res, call);
      calls.push(call);
      (byTool.get(call.tool) ?? answers({ ok: true }))(res, call);
    });
  });
  return Object.assign(await listenTracked(server, 0, '127.0.0.1'), {
    calls,
    on: (tool: string, answer: ToolAnswer) => void byTool.set(tool, answer),
  });
}

/** A customer's conversation with the agent, whatever decides the agent's answers. */
export interface ChatTalk {
  readonly id: string;
  readonly path: string;
  readonly customer: ChatCustomer;
  write(words: string): Promise<void>;
  /** What the agent wrote so far. */
  replies(): Promise<string[]>;
  /** Waits for the nth reply (from 1). */
  reply(nth?: number): Promise<string>;
  record(): Promise<Json>;
  act(action: 'takeover' | 'handback' | 'messages' | 'close'): Promise<Json>;
}

export interface Talk extends ChatTalk {
  calls(): Promise<Json[]>;
  call(where: (call: Json) => boolean): Promise<Json>;
  /** Decides the call that waits for approval, once there is one. */
  decide(verdict: 'approve' | 'reject'): Promise<void>;
  /** Waits for at least so many turns of the agent. @returns what the log says of each turn */
  turns(least: number): Promise<{ outcome: string; used: boolean }[]>;
}

export interface AgentService {
  readonly service: TestService;
  readonly model: ModelServer;
  readonly tools: ToolServer;
  readonly log: string[];
  /** Makes a live, read-only tool, which answers as `tools.on` says. @returns its id */
  tool(name: string, fields?: Record<string, unknown>): Promise<string>;
  /** Begins a conversation, in which a customer has written these words. */
  talk(words: string, claims?: Record<string, unknown>): Promise<Talk>;
  /** What the model was sent since the last `reset`, the system message left out. */
  asked(): ReceivedMessage[][];
  /**
   * Forgets what was sent and scripted; what is not scripted is answered with "Hello from the
   * model."
   */
  reset(): void;
  close(): Promise<void>;
}

const BODY = {
  messages: { text: 'a person here' },
  close: { summary: 's', verdict: 'unknown' },
} as Record<string, unknown>;

export const QUIET_MS = 30;

/** The environment of a service whose agent is the keyword agent. */
export const KEYWORD_ONLY = {
  LLM_BASE_URL: undefined,
  LLM_API_KEY: undefined,
  LLM_MODEL: undefined,
};

/** The environment of a service whose agent asks this model. */
export const asksModel = ({ url, apiKey, model }: ModelServer) => ({
  LLM_BASE_URL: url,
  LLM_API_KEY: apiKey,
  LLM_MODEL: model,
});

interface AgentServiceOptions extends TestServiceOptions {
  /** Whether to switch the agent on: in a new workspace, it is off. */
  readonly isOn?: boolean;
}

export async function startAgentService({
  env,
  isOn = true,
  ...options
}: AgentServiceOptions = {}): Promise<AgentService> {
  const log: string[] = [];
  const model = await startModelServer();
  const tools = await startToolServer();
  const sink = new Writable({
    write: (chunk, _encoding, done) => (log.push(String(chunk)), done()),
  });
  const service = await startTestService({
    log: pino({ level: 'debug' }, sink),
    ...options,
    env: {
      INSECURE_TARGETS: 'true',
      AGENT_QUIET_MS: String(QUIET_MS),
      ...asksModel(model),
      TOOL_RETRY_DELAYS_MS: '5,5',
      ...env,
    },
  });
  if (isOn) await service.api.patch('/api/agent', { enabled: true });
  let from = 0;
  const turnsOf = (id: string) =>
    log
      .filter((line) => line.includes(`"msg":"agent turn"`) && line.includes(id))
      .map((line) => JSON.parse(line) as { outcome: string; used: boolean });

  const started: AgentService = {
    service,
    model,
    tools,
    log,
    tool: (name, fields) => createLiveTool(service, tools, name, fields),
    talk: async (words, claims) => {
      const customer = await chatCustomer(service.url, claims);
      const { conversation_id: id } = await customer.write(words);
      return talkOf(service, customer, id, turnsOf);
    },
    asked: () => model.requests.slice(from).map(({ body }) => body.messages.slice(1)),
    reset: () => {
      from = model.requests.length;
      tools.calls.length = 0;
      model.answerBy(() => text('Hello from the model.'));
    },
    close: async () => {
      await service.stop();
      await model.close();
      await tools.close();
    },
  };
  started.reset();
  return started;
}

async function createLiveTool(
  service: TestService,
  tools: ToolServer,
  name: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const endpoint = `http://127.0.0.1:${tools.port}/${name}`;
  const { body } = await service.api.post('/api/tools', {
    name,
    description: `Does ${name}.`,
    kind: 'Webhook',
    endpoint,
    read_only: true,
    ...fields,
  });
  const sample = Object.fromEntries(
    ((fields.parameters as Json)?.required ?? []).map((key: string) => [key, 'sample']),
  );
  await service.api.post(`/api/tools/${body.id}/go-live`, { arguments: sample });
  await waitFor(
    `${name} to go live`,
    async () => (await service.api.get(`/api/tools/${body.id}`)).body.status === 'live',
  );
  return body.id as string;
}

/**
 * @param api gives the team's client, as `chat` gives the customer's: both are asked each time,
 * because a restart may replace them
 */
export function chatTalk(
  api: () => ApiClient,
  customer: ChatCustomer,
  id: string,
  chat = () => customer.api,
): ChatTalk {
  const path = `/api/conversations/${id}`;
  const replies = async () =>
    (await chat().get('/api/chat/messages?limit=200')).body.data
      .filter((message: Json) => message.from === 'agent' && message.conversation_id === id)
      .map((message: Json) => message.text as string);
  return {
    id,
    path,
    customer,
    write: async (words) =>
      void (await chat().post('/api/chat/messages', {
        text: words,
        client_message_id: crypto.randomUUID(),
      })),
    replies,
    reply: (nth = 1) =>
      waitFor(`reply ${nth} of the agent`, async () => (await replies())[nth - 1], {
        everyMs: 10,
      }),
    record: async () => (await api().get(`${path}?messages=200`)).body,
    act: async (action) => (await api().post(`${path}/${action}`, BODY[action])).body,
  };
}

function talkOf(
  service: TestService,
  customer: ChatCustomer,
  id: string,
  turnsOf: (id: string) => { outcome: string; used: boolean }[],
): Talk {
  const calls = async () =>
    (await service.api.get(`/api/tool-calls?conversation_id=${id}`)).body.data.toReversed();
  const call = (where: (call: Json) => boolean) =>
    waitFor('the tool call', async () => (await calls()).find(where));
  return {
    ...chatTalk(
      () => service.api,
      customer,
      id,
      () => apiClient(service.url, customer.token),
    ),
    calls,
    call,
    decide: async (verdict) => {
      const { tool_call_id } = await call(({ status }) => status === 'pending_approval');
      const { status } = await service.api.post(`/api/tool-calls/${tool_call_id}/${verdict}`, {});
      if (status !== 200) throw new Error(`not decided: ${status}`);
    },
    turns: (least) =>
      waitFor(`${least} turns of the agent`, () =>
        turnsOf(id).length >= least ? turnsOf(id) : null,
      ),
  };
}

/** Answers the model's requests with these replies in order, and repeats the last one. */
export function inOrder(...replies: ModelReply[]): () => ModelReply {
  let next = 0;
  return () => replies[Math.min(next++, replies.length - 1)]!;
}

/** The results of tool calls that one request told the model, in order. */
export const resultsIn = (messages: readonly ReceivedMessage[]): Json[] =>
  messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => JSON.parse(content as string));
