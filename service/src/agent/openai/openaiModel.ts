import type { ClientOptions, OpenAI } from 'openai';
import type { Logger } from 'pino';
import { deadlineAfter } from '../../platform/async/deadline.ts';
import type { AgentModel, Step, Turn } from '../agentModel.ts';
import { MARK_QUALIFIED } from './builtInFunctions.ts';
import { chatRequest, type ChatMessage, type ChatRequest } from './chatRequest.ts';
import { chooseStep } from './chooseStep.ts';
import { describeModelFailure, ModelError, type ModelServer } from './modelFailure.ts';
import { modelFetch } from './modelFetch.ts';
import { readAnswer, type ModelAnswer } from './readAnswer.ts';

export { ModelError } from './modelFailure.ts';

export interface OpenAiModelOptions {
  /** Of an OpenAI-compatible API, usually ending in `/v1`. */
  readonly baseUrl: string;
  /** Undefined sends none: most self-hosted servers need none. */
  readonly apiKey: string | undefined;
  readonly model: string;
  /** For a whole step: every request, retry and wait in it. */
  readonly timeoutMs: number;
  readonly log?: Logger;
}

/**
 * A language model behind the Chat Completions API of any OpenAI-compatible server. After 429, 5xx or
 * a broken connection it tries again while time is left, with at most three attempts in all. Only
 * this function loads the SDK.
 * @returns a model whose `next` throws ModelError when the model gives no usable answer, and the
 * signal's reason when the caller gives up
 * @throws ModelError when address or key cannot be used
 */
export async function createOpenAiModel(options: OpenAiModelOptions): Promise<AgentModel<Step>> {
  const server = checkSettings(options);
  const { OpenAI: Client } = await import('openai');
  const { timeoutMs, log } = options;
  return {
    decidedBy: 'language_model',
    async next(turn, signal) {
      signal.throwIfAborted();
      using tooLate = deadlineAfter(timeoutMs);
      const stopped = AbortSignal.any([signal, tooLate.signal]);
      const startedAt = performance.now();
      const client = new Client(clientOptions(options, startedAt + timeoutMs));
      try {
        return await decide(turn, server.model, (request) => ask(client, server, request, stopped));
      } catch (error) {
        signal.throwIfAborted();
        if (tooLate.signal.aborted)
          throw new ModelError(`The model did not answer within ${timeoutMs / 1000} s.`);
        throw error;
      } finally {
        log?.debug(
          { model: server.model, durationMs: Math.round(performance.now() - startedAt) },
          'the model was asked for a step',
        );
      }
    },
  };
}

function checkSettings({ baseUrl, apiKey, model }: OpenAiModelOptions): ModelServer {
  if (!URL.canParse(baseUrl)) throw new ModelError('LLM_BASE_URL is not a URL.');
  const url = new URL(baseUrl);
  if (url.username || url.password)
    throw new ModelError(
      'LLM_BASE_URL must not hold a user name or password: the key belongs in LLM_API_KEY.',
    );
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new ModelError('LLM_API_KEY must be visible ASCII characters without spaces.');
  return { host: url.hostname, model, apiKey };
}

/**
 * Asks for a step. A model that only marked the conversation qualified is asked once more, for its
 * reply.
 */
async function decide(
  turn: Turn,
  model: string,
  askModel: (request: ChatRequest) => Promise<ModelAnswer>,
): Promise<Step> {
  const request = chatRequest(turn, model);
  const step = chooseStep(await askModel(request), turn);
  if (step !== null) return step;

  const messages = [...request.messages, ...QUALIFIED];
  const next = chooseStep(await askModel({ ...request, messages }), turn);
  if (next === null) throw new ModelError('The model gave an empty answer.');
  return { ...next, qualify: true };
}

async function ask(
  client: OpenAI,
  server: ModelServer,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const body = await client.chat.completions
    .create(request, { signal })
    .asResponse()
    .then((response) => response.text())
    .catch((error: unknown) => {
      throw describeModelFailure(error, server);
    });
  return readAnswer(body);
}

/** For one call. Every setting is given, since the SDK reads the others from the environment. */
const clientOptions = (
  { baseUrl, apiKey, timeoutMs }: OpenAiModelOptions,
  deadlineAt: number,
): ClientOptions => ({
  baseURL: baseUrl,
  apiKey: apiKey ?? 'none',
  ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
  adminAPIKey: null,
  organization: null,
  project: null,
  webhookSecret: null,
  logLevel: 'off', // it would print what customers write
  maxRetries: 2,
  timeout: timeoutMs + 1000, // ours ends the call first
  fetch: modelFetch(deadlineAt),
});

const QUALIFIED_CALL_ID = 'call_mark_qualified';

/** The model's call and its result, which make the model write its reply next. */
const QUALIFIED: readonly ChatMessage[] = [
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: QUALIFIED_CALL_ID,
        type: 'function',
        function: { name: MARK_QUALIFIED, arguments: '{}' },
      },
    ],
  },
  {
    role: 'tool',
    tool_call_id: QUALIFIED_CALL_ID,
    content: '{"status":"succeeded","message":"done; now reply to the customer"}',
  },
];
