import { jsonIn } from '../../platform/json.ts';
import type OpenAI from 'openai';
import type { AgentTool, HistoryItem, PastToolCall, Turn } from '../agentModel.ts';
import { BUILT_IN_FUNCTIONS, type FunctionDefinition } from './builtInFunctions.ts';
import { cutText } from '../cutText.ts';
import { cleanText } from './modelText.ts';
import { noteMark, systemPrompt, TEAM_MARK } from './systemPrompt.ts';

/**
 * A turn as a request that every server with a Chat Completions API understands. It uses no field
 * that some servers do not know. It begins with the only system message, and then user and assistant
 * alternate, because the chat templates of many open models refuse anything else.
 */

export type ChatMessage = OpenAI.ChatCompletionMessageParam;
export type ChatRequest = OpenAI.ChatCompletionCreateParamsNonStreaming;

/** OpenAI's limits. */
const MAX_NAME_CHARACTERS = 64;
const MAX_DESCRIPTION_CHARACTERS = 1024;

const BEGINNING_LEFT_OUT = '[the beginning of the conversation is left out]';

export function chatRequest(turn: Turn, model: string): ChatRequest {
  const custom = turn.mayCallTools ? turn.tools.map(definitionOf) : [];
  return {
    model,
    messages: [
      { role: 'system', content: systemPrompt(turn) },
      ...inTurns(turn.history.flatMap(messagesOf)),
    ],
    tools: [...custom, ...BUILT_IN_FUNCTIONS].map((definition) => ({
      type: 'function',
      function: definition,
    })),
  };
}

function definitionOf({
  name,
  description: does,
  parameters,
  examplePhrases,
}: AgentTool): FunctionDefinition {
  const description =
    examplePhrases.length === 0
      ? does
      : `${does.replace(/[.\s]*$/, '')}. Customers write, for example: ${examplePhrases.join('; ')}`;
  const { $schema: _dialect, $id: _id, ...schema } = parameters;
  // OpenAI refuses parameters without `properties`, or with a `type` that is a list.
  return {
    name,
    description: cutText(cleanText(description), MAX_DESCRIPTION_CHARACTERS),
    parameters: { properties: {}, ...schema, type: 'object' },
  };
}

function messagesOf(item: HistoryItem): ChatMessage[] {
  switch (item.type) {
    case 'customer':
      return [{ role: 'user', content: cleanText(item.text) }];
    case 'reply':
      return [
        {
          role: 'assistant',
          content: cleanText(item.from === 'team' ? `${TEAM_MARK} ${item.text}` : item.text),
        },
      ];
    case 'tool_calls':
      return [callsMessage(item.calls), ...item.calls.map(resultMessage)];
    case 'late_result':
      return [lateResultNote(item.call)];
  }
}

/**
 * `content` is null: servers send it so themselves, and some refuse '' or a missing field.
 */
const callsMessage = (calls: readonly PastToolCall[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: {
      name: sendableName(call.tool),
      arguments: cleanText(JSON.stringify(call.arguments)),
    },
  })),
});

/** A model can make up a name that the API refuses to see again. */
const sendableName = (name: string): string =>
  name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME_CHARACTERS) || '_';

const resultMessage = (call: PastToolCall): ChatMessage => ({
  role: 'tool',
  tool_call_id: call.id,
  content: outcomeJson(call),
});

function outcomeJson({ status, outcome }: PastToolCall): string {
  const text = cleanText(outcome);
  if (status !== 'succeeded') return JSON.stringify({ status, message: text });
  const result = jsonIn(text);
  // A result that was cut is no longer JSON.
  return JSON.stringify({ status, result: result === undefined ? text : result });
}

/**
 * A note in the customer's place: a system message in the middle is refused by the chat templates
 * of Qwen, Gemma and others, and a tool message may only follow the call that it answers. The
 * call's id, which no customer knows, shows the model that the note is genuine.
 */
const lateResultNote = (call: PastToolCall): ChatMessage => ({
  role: 'user',
  content: `${noteMark(call.id)} This call of ${sendableName(call.tool)} waited for approval and has now ended: ${outcomeJson(call)} Tell the customer how it ended.`,
});

/**
 * Joins neighbouring messages of one role, and begins with a user's message: Gemma's and Mistral's
 * templates refuse anything else.
 */
function inTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last && isPlain(last) && isPlain(message) && last.role === message.role) {
      turns[turns.length - 1] = {
        role: last.role,
        content: `${last.content}\n\n${message.content}`,
      };
    } else {
      turns.push(message);
    }
  }
  return turns[0]?.role === 'user'
    ? turns
    : [{ role: 'user', content: BEGINNING_LEFT_OUT }, ...turns];
}

type PlainMessage = { role: 'user' | 'assistant'; content: string };

const isPlain = (message: ChatMessage): message is PlainMessage =>
  (message.role === 'user' || message.role === 'assistant') &&
  typeof message.content === 'string' &&
  !('tool_calls' in message);
