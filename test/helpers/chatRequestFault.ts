// What OpenAI or a strict compatible server would refuse of a chat completion request, so that what
// passes here works with all of them.
import type { IncomingHttpHeaders } from 'node:http';

export interface ReceivedMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

interface ReceivedTool {
  readonly type: string;
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Record<string, unknown>;
  };
}

export interface ReceivedChat {
  readonly model: string;
  readonly messages: readonly ReceivedMessage[];
  readonly tools?: readonly ReceivedTool[];
  readonly tool_choice?: unknown;
}

class Fault extends Error {}

function assert(condition: unknown, fault: string): asserts condition {
  if (!condition) throw new Fault(fault);
}

/**
 * What is wrong with a request; null when nothing is.
 * @param isOpenAi true: also accepts what OpenAI accepts but compatible servers may refuse
 */
export function chatRequestFault(
  headers: IncomingHttpHeaders,
  body: unknown,
  isOpenAi = false,
): string | null {
  try {
    assert(
      headers['content-type']?.startsWith('application/json'),
      'content-type must be application/json',
    );
    checkChat(body, isOpenAi);
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields that every compatible server is known to take. */
const CHAT_FIELDS = ['model', 'messages', 'tools', 'tool_choice'];
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_ID_CHARACTERS = 40;
const MAX_DESCRIPTION_CHARACTERS = 1024;

function checkOnly(fields: Fields, allowed: readonly string[], where: string) {
  for (const name of Object.keys(fields))
    assert(allowed.includes(name), `Unrecognized request argument supplied: ${where}${name}`);
}

function checkChat(body: unknown, isOpenAi: boolean) {
  assert(isFields(body), 'the body must be a JSON object');
  checkOnly(body, isOpenAi ? [...CHAT_FIELDS, 'stream'] : CHAT_FIELDS, '');
  assert(typeof body.model === 'string' && body.model !== '', 'you must provide a model parameter');
  assert(Array.isArray(body.messages) && body.messages.length > 0, '[] is too short - messages');
  checkMessages(body.messages, isOpenAi);
  if (body.tools !== undefined) checkTools(body.tools, isOpenAi);
  assert(
    body.tool_choice === undefined || body.tools !== undefined,
    "'tool_choice' is only allowed when 'tools' are specified",
  );
}

/** Checks that every tool call is answered directly after it, and that nothing else is answered. */
function checkMessages(messages: readonly unknown[], isOpenAi: boolean) {
  let open = new Set<string>();
  messages.forEach((message, i) => {
    const at = `messages[${i}]`;
    assert(isFields(message), `${at} must be an object`);
    if (message.role === 'tool') {
      const fields = ['role', 'content', 'tool_call_id', ...(isOpenAi ? ['name'] : [])];
      checkOnly(message, fields, `${at}.`);
      assert(typeof message.content === 'string', `${at}.content must be a string`);
      assert(
        open.delete(String(message.tool_call_id)),
        `${at}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`,
      );
      return;
    }
    assert(
      open.size === 0,
      `${at}: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${[...open].join(', ')}`,
    );
    if (message.role === 'assistant') open = checkAssistant(message, at, isOpenAi);
    else checkPlainMessage(message, at);
  });
  assert(
    open.size === 0,
    `an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${[...open].join(', ')}`,
  );
}

function checkPlainMessage(message: Fields, at: string) {
  assert(
    ['system', 'developer', 'user'].includes(String(message.role)),
    `invalid value: '${String(message.role)}' - ${at}.role`,
  );
  checkOnly(message, ['role', 'content', 'name'], `${at}.`);
  checkText(message.content, `${at}.content`);
}

function checkText(text: unknown, at: string) {
  assert(typeof text === 'string', `${at} must be a string`);
  assert(text.isWellFormed() && !text.includes('\0'), `${at} is not well-formed Unicode`);
}

function checkAssistant(message: Fields, at: string, isOpenAi: boolean): Set<string> {
  checkOnly(message, ['role', 'content', 'name', 'tool_calls'], `${at}.`);
  const calls = message.tool_calls;
  if (calls === undefined) {
    checkText(message.content, `${at}.content`);
    return new Set();
  }
  assert(
    message.content === null ||
      typeof message.content === 'string' ||
      (isOpenAi && Array.isArray(message.content)),
    `${at}.content must be a string or null`,
  );
  assert(Array.isArray(calls) && calls.length > 0, `[] is too short - ${at}.tool_calls`);
  return new Set(calls.map((call, i) => checkCall(call, `${at}.tool_calls[${i}]`)));
}

function checkCall(call: unknown, at: string): string {
  assert(isFields(call) && isFields(call.function), `${at} must be a function call`);
  checkOnly(call, ['id', 'type', 'function'], `${at}.`);
  checkOnly(call.function, ['name', 'arguments'], `${at}.function.`);
  assert(call.type === 'function', `${at}.type must be 'function'`);
  assert(
    typeof call.id === 'string' && call.id !== '' && call.id.length <= MAX_ID_CHARACTERS,
    `${at}.id must have 1 to ${MAX_ID_CHARACTERS} characters`,
  );
  assert(NAME.test(String(call.function.name)), `${at}.function.name must match ${NAME.source}`);
  assert(typeof call.function.arguments === 'string', `${at}.function.arguments must be a string`);
  return call.id;
}

function checkTools(tools: unknown, isOpenAi: boolean) {
  assert(Array.isArray(tools) && tools.length > 0, '[] is too short - tools');
  const names = tools.map((tool: unknown, i) => checkTool(tool, `tools[${i}]`, isOpenAi));
  assert(new Set(names).size === names.length, 'tools: function names must be unique');
}

function checkTool(tool: unknown, at: string, isOpenAi: boolean): string {
  assert(
    isFields(tool) && tool.type === 'function' && isFields(tool.function),
    `${at} must be a function`,
  );
  checkOnly(tool, ['type', 'function'], `${at}.`);
  const { name, description = '', parameters } = tool.function;
  const fields = ['name', 'description', 'parameters', ...(isOpenAi ? ['strict'] : [])];
  checkOnly(tool.function, fields, `${at}.function.`);
  assert(
    typeof name === 'string' && NAME.test(name),
    `${at}.function.name must match ${NAME.source}`,
  );
  assert(
    typeof description === 'string' && description.length <= MAX_DESCRIPTION_CHARACTERS,
    `${at}.function.description is too long`,
  );
  if (parameters !== undefined) {
    assert(
      isFields(parameters) && parameters.type === 'object',
      `${at}.function.parameters: schema must be a JSON Schema of 'type: "object"'`,
    );
    assert(
      isFields(parameters.properties),
      `${at}.function.parameters: object schema missing properties`,
    );
  }
  return name;
}
