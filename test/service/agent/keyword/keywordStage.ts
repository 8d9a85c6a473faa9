// The keyword agent, the tools of a shop, and what is said in a conversation with it.
import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type {
  AgentTool,
  HistoryItem,
  Language,
  PastToolCall,
  Step,
  Turn,
} from '../../../../service/src/agent/agentModel.ts';
import { createKeywordAgent } from '../../../../service/src/agent/keyword/keywordAgent.ts';
import { sentence } from '../../../../service/src/agent/keyword/sentences.ts';
import type { JsonObject } from '../../../../service/src/platform/json.ts';

/** A Saturday at ten in the morning, in the machine's time zone. */
const NOW = new Date(2026, 10, 21, 10, 0);
const agent = createKeywordAgent(() => NOW);
const ajv = new Ajv2020({ strict: false });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);

export const schema = (
  properties: JsonObject,
  required = Object.keys(properties),
  more: JsonObject = {},
): JsonObject => ({ type: 'object', properties, required, ...more });
export const tool = (
  name: string,
  description: string,
  parameters: JsonObject = schema({}),
  ...examplePhrases: readonly string[]
): AgentTool => ({ name, description, parameters, readOnly: true, examplePhrases });
/** A tool that changes something. */
export const acting = (...made: Parameters<typeof tool>): AgentTool => ({
  ...tool(...made),
  readOnly: false,
});

export const ORDER_ID = { order_id: { type: 'string', description: 'Order number' } };
export const TRACK = tool(
  'track_order',
  'Status and delivery date of an order',
  schema(ORDER_ID),
  'where is my order',
  'dónde está mi pedido',
  'onde está meu pedido',
);
const CANCEL = acting(
  'cancel_order',
  'Cancels an order',
  schema({ ...ORDER_ID, reason: { type: 'string' } }, ['order_id']),
  'quiero cancelar mi pedido',
  'quero cancelar meu pedido',
);
const BOOK = acting(
  'book_table',
  'Books a table at the restaurant',
  schema({
    date: { type: 'string', format: 'date' },
    time: { type: 'string', format: 'time' },
    people: { type: 'integer', minimum: 1, maximum: 20, description: 'How many people' },
  }),
  'reservar una mesa',
);
const HOURS = tool(
  'opening_hours',
  'Opening hours of the shop',
  { type: 'object' },
  'qué horarios tienen',
);
export const FAQ = tool(
  'ask_faq',
  'Answers general questions',
  schema({ question: { type: 'string', maxLength: 40 } }),
);
export const TOOLS = [TRACK, CANCEL, BOOK, HOURS];

export const customer = (text: string): HistoryItem => ({ type: 'customer', text });
export const said = (text: string): HistoryItem => ({ type: 'reply', from: 'agent', text });
export const beside = (text: string): HistoryItem => ({
  type: 'reply',
  from: 'team',
  text,
  isBesideAgent: true,
});
export const call = (
  status: PastToolCall['status'],
  outcome = '',
  more: Partial<PastToolCall> = {},
): PastToolCall => ({ id: 'call_1', tool: 'track_order', arguments: {}, status, outcome, ...more });
export const calls = (...made: PastToolCall[]): HistoryItem => ({
  type: 'tool_calls',
  calls: made,
});
export const late = (ended: PastToolCall): HistoryItem => ({ type: 'late_result', call: ended });

interface Setting {
  readonly tools?: readonly AgentTool[];
  readonly language?: Language;
  readonly mayCallTools?: boolean;
  readonly mayClose?: boolean;
}

export async function next(
  history: readonly (HistoryItem | string)[],
  { tools = TOOLS, language = 'en', mayCallTools = true, mayClose = true }: Setting = {},
): Promise<Step> {
  const turn: Turn = {
    agent: { name: 'Agent', instructions: '', languages: [language] },
    language,
    tools,
    mayCallTools,
    mayClose,
    history: history.map((item) => (typeof item === 'string' ? customer(item) : item)),
  };
  const start = performance.now();
  const step = await agent.next(turn, new AbortController().signal);
  expect(performance.now() - start).toBeLessThan(10_000);
  return step;
}

/** The step that calls one tool. */
export const callOf = (name: string, args: JsonObject): Step => ({
  type: 'tool_calls',
  calls: [{ tool: name, arguments: args }],
});
export const reply = (text: string): Step => ({ type: 'reply', text });
/** The step that asks for an argument. */
export const ask = (what: string, language: Language = 'en') =>
  reply(sentence('askForArgument', language, { what }));
/** The question of `ask`, as the history holds it afterwards. */
export const asking = (what = 'Order number', language: Language = 'en') =>
  said(sentence('askForArgument', language, { what }));
export const UNKNOWN: Step = { type: 'hand_over', reason: 'missing_knowledge', text: null };
/** The step that asks the customer to confirm a call. */
export const confirm = (action: string, language: Language = 'en') =>
  reply(sentence('confirmCall', language, { action }));
/** The question of `confirm`, as the history holds it afterwards. */
export const confirming = (action: string, language: Language = 'en') =>
  said(sentence('confirmCall', language, { action }));
/** Of the machine's time zone, such as `+02:00`. */
export const OFFSET =
  new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' }).format(NOW).split('GMT')[1] ||
  '+00:00';

/** The value that a tool with one argument is called with; undefined when it is not called. */
export async function filled(
  argument: JsonObject,
  message: string,
  { name = 'value', language = 'en' as Language, required = true } = {},
): Promise<unknown> {
  const lookup = tool('lookup', 'Looks up', schema({ [name]: argument }, required ? [name] : []));
  const step = await next([`lookup: ${message}`], { tools: [lookup], language });
  if (step.type !== 'tool_calls') return undefined;
  const args = step.calls[0]!.arguments as JsonObject;
  expect(ajv.validate(lookup.parameters, args)).toBe(true);
  return Object.hasOwn(args, name) ? args[name] : undefined;
}
