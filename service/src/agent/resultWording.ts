import type { Language, PastToolCall } from './agentModel.ts';
import { CREATE_PAYMENT_LINK } from '../domain/builtInTools.ts';
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts';
import { sentence } from './sentences.ts';
import { readableName } from './words.ts';

const MAX_TEXT_CHARACTERS = 1_000;
const MAX_LINES = 10;
const MAX_ITEMS = 5;
const MAX_NESTING = 6;

/** Properties that are the answer in words already, the plainest first. */
const SPEAKING = ['message', 'text', 'answer', 'reply', 'result', 'output'] as const;

/**
 * How a tool call ended, for the customer: at most 1,000 characters (a payment link: whole), and
 * never JSON. Null for `invalid`, which is nothing to tell.
 */
export function callInWords(call: PastToolCall, language: Language): string | null {
  switch (call.status) {
    case 'succeeded':
      return madeLink(call, language)?.words ?? cut(resultInWords(call.outcome, language));
    case 'pending_approval':
      return sentence('waitingForApproval', language);
    case 'rejected':
      return sentence('approvalRejected', language);
    case 'expired':
      return sentence('approvalExpired', language);
    case 'failed':
    case 'cancelled':
      return sentence('toolFailed', language);
    case 'invalid':
      return null;
  }
}

function resultInWords(outcome: string, language: Language): string {
  const result = parse(outcome);
  return result === undefined
    ? plainText(outcome, language)
    : inWords(result, language, MAX_NESTING);
}

function inWords(result: Json, language: Language, nesting: number): string {
  const done = sentence('toolDone', language);
  if (result === null || result === true || nesting === 0) return done;
  if (typeof result === 'string') return inString(result, language, nesting);
  if (!isJsonObject(result) && Array.isArray(result)) return listInWords(result, language, nesting);
  if (!isJsonObject(result))
    return sentence('toolResult', language, { result: scalar(result, language)! });
  const spoken = SPEAKING.filter((key) => Object.hasOwn(result, key)).map((key) => result[key]!);
  const speaking = spoken.find((value) => typeof value === 'string' && value.trim() !== '');
  if (speaking !== undefined) return inWords(speaking, language, nesting - 1);
  const entries = Object.entries(result);
  if (entries.length === 1 && isContainer(entries[0]![1]))
    return inWords(entries[0]![1], language, nesting - 1);
  if (entries.every(([name, value]) => isSuccessFlag(name, value) || value === null)) return done;
  const lines = flatLines(result, language);
  return lines.length === 0 || lines.length > MAX_LINES
    ? done
    : sentence('toolResult', language, { result: lines.join('\n') });
}

const FLAGS: ReadonlySet<string> = new Set([
  'ok',
  'success',
  'successful',
  'succeeded',
  'accepted',
  'done',
  'status',
  'statuscode',
  'code',
]);
const SUCCESS: ReadonlySet<string> = new Set([
  'ok',
  'success',
  'successful',
  'succeeded',
  'accepted',
  'true',
]);

/** `ok: true`, `status: "accepted"`, `status: 200`: that it worked, and no more. */
function isSuccessFlag(name: string, value: Json): boolean {
  if (!FLAGS.has(name.toLowerCase().replace(/[^a-z]/g, ''))) return false;
  if (typeof value === 'string') return SUCCESS.has(value.trim().toLowerCase());
  return (
    value === true ||
    (/^(?:status|code|status.?code)$/i.test(name) &&
      typeof value === 'number' &&
      value >= 200 &&
      value < 300)
  );
}

/** A text may be JSON once more: automations like to wrap what they answer. */
function inString(text: string, language: Language, nesting: number): string {
  const inner = /^\s*[[{]/.test(text) ? parse(text) : undefined;
  return inner === undefined ? plainText(text, language) : inWords(inner, language, nesting - 1);
}

/** JSON that was cut in the middle is not for reading. */
const plainText = (text: string, language: Language) =>
  /^\s*(?:[[{]|$)/.test(text) ? sentence('toolDone', language) : text.trim().replace(/^"|"$/g, '');

function listInWords(items: readonly Json[], language: Language, nesting: number): string {
  if (items.length === 0) return sentence('nothingFound', language);
  if (items.length === 1) return inWords(items[0]!, language, nesting - 1);
  const lines = items.slice(0, MAX_ITEMS).map((item) => itemInWords(item, language));
  if (lines.includes(null)) return sentence('toolDone', language);
  const more =
    items.length > MAX_ITEMS
      ? [sentence('moreItems', language, { count: String(items.length - MAX_ITEMS) })]
      : [];
  return sentence('toolResult', language, {
    result: [...lines.map((line) => `- ${line}`), ...more].join('\n'),
  });
}

function itemInWords(item: Json, language: Language): string | null {
  if (!isContainer(item)) return scalar(item, language);
  const lines = isJsonObject(item) ? flatLines(item, language) : [];
  return lines.length === 0 || lines.length > MAX_LINES ? null : lines.join(', ');
}

/** `name: value` for each property that is a single value, or a short list of them. */
const flatLines = (object: JsonObject, language: Language): readonly string[] =>
  Object.entries(object).flatMap(([name, value]) => {
    const words = Array.isArray(value) ? shortList(value, language) : scalar(value, language);
    return words === null || words === '' ? [] : [`${readableName(name)}: ${words}`];
  });

function shortList(items: readonly Json[], language: Language): string | null {
  if (items.length === 0 || items.length > MAX_ITEMS || items.some(isContainer)) return null;
  return items.map((item) => scalar(item, language)).join(', ');
}

/**
 * Null for what is no single value, and for what is nothing to read: null, or a text that is JSON.
 */
function scalar(value: Json, language: Language): string | null {
  if (typeof value === 'boolean') return sentence(value ? 'yes' : 'no', language);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || /^\s*[[{]/.test(value)) return null;
  return value.replace(/\s+/g, ' ').trim();
}

const isContainer = (value: Json) => typeof value === 'object' && value !== null;

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function cut(text: string, length = MAX_TEXT_CHARACTERS): string {
  if (text.length <= length) return text;
  return `${text
    .slice(0, length - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}

// ---- Payment links

/** A payment link, and the words with which the customer is given it. */
export interface MadeLink {
  readonly url: string;
  readonly words: string;
}

/** The link that a call has made; null when it has made none. */
export function madeLink(
  { tool, status, outcome }: PastToolCall,
  language: Language,
): MadeLink | null {
  if (tool !== CREATE_PAYMENT_LINK || status !== 'succeeded') return null;
  const result = parse(outcome);
  if (result === undefined || !isJsonObject(result) || typeof result.url !== 'string') return null;
  const { url, amount_display: amount, description } = result;
  return {
    url,
    words: sentence('paymentLink', language, {
      url,
      amount: String(amount),
      description: String(description),
    }),
  };
}
