// What the tests of the language model share: a model on a local server, and turns to ask it about.
import {
  createOpenAiModel,
  ModelError,
  type OpenAiModelOptions,
} from '../../../../service/src/agent/openai/openaiModel.ts';
import type {
  AgentModel,
  AgentTool,
  HistoryItem,
  PastToolCall,
  Step,
  Turn,
} from '../../../../service/src/agent/agentModel.ts';
import {
  startModelServer,
  type ModelServer,
  type ModelServerOptions,
  type ReceivedMessage,
} from '../../../helpers/modelServer.ts';

export interface TestModel {
  readonly server: ModelServer;
  readonly model: AgentModel<Step>;
  /** Asks for a step. */
  next(turn?: Turn, signal?: AbortSignal): Promise<Step>;
  /** What the model was sent in its last request, without the system prompt. */
  lastMessages(): readonly ReceivedMessage[];
  lastPrompt(): string;
  lastFunctionNames(): string[];
}

export const customer = (text: string): HistoryItem => ({ type: 'customer', text });

export const lookupTool: AgentTool = {
  name: 'lookup_order',
  description: 'Looks up an order',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  readOnly: true,
  examplePhrases: [],
};

export const turnOf = (turn: Partial<Turn> = {}): Turn => ({
  agent: { name: 'Ada', instructions: 'We sell lamps.', languages: ['en', 'es'] },
  language: 'en',
  history: [customer('Where is order 7?')],
  tools: [lookupTool],
  mayCallTools: true,
  mayClose: true,
  ...turn,
});

export const pastCall = (call: Partial<PastToolCall> = {}): PastToolCall => ({
  id: 'call_01JD6Z0000000000000000000A',
  tool: 'lookup_order',
  arguments: { order: '7' },
  status: 'succeeded',
  outcome: '{"state":"shipped"}',
  ...call,
});

const opened: ModelServer[] = [];

export async function openModel({
  server: serverOptions,
  ...options
}: Partial<OpenAiModelOptions> & { server?: ModelServerOptions } = {}): Promise<TestModel> {
  const server = await startModelServer(serverOptions);
  opened.push(server);
  const model = await createOpenAiModel({
    baseUrl: server.url,
    apiKey: server.apiKey || undefined,
    model: server.model,
    timeoutMs: 5_000,
    ...options,
  });
  const last = () => server.requests.at(-1)!.body;
  return {
    server,
    model,
    next: (turn = turnOf(), signal = new AbortController().signal) => model.next(turn, signal),
    lastMessages: () => last().messages.slice(1),
    lastPrompt: () => last().messages[0]!.content ?? '',
    lastFunctionNames: () => (last().tools ?? []).map((tool) => tool.function.name),
  };
}

/** Closes a test's servers. @returns what OpenAI would have refused in the test's requests */
export async function closeModels(): Promise<string[]> {
  const servers = opened.splice(0);
  await Promise.all(servers.map((server) => server.close()));
  return servers.flatMap((server) => server.faults);
}

/** The ModelError that a step fails with; throws when it succeeds or fails otherwise. */
export async function failureOf(step: Promise<Step>): Promise<ModelError> {
  const outcome = await step.then(
    (given) => new Error(`expected a failure, but got ${JSON.stringify(given)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof ModelError) return outcome;
  throw outcome;
}
