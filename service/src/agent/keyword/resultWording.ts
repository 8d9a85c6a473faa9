import type { Language, PastToolCall } from '../agentModel.ts';
import { CREATE_PAYMENT_LINK } from '../../tools/index.ts';
import { isJsonObject, jsonIn, type Json } from '../../platform/json.ts';
import { sentence, SENTENCES_OF_CALLS } from './sentences.ts';
import { capitalizedName } from '../../platform/reading/words.ts';

const MAX_TEXT_CHARACTERS = 1_000;
const MAX_LINES = 10;
const MAX_ITEMS = 5;
const MAX_NESTING = 6;

/** Properties that usually hold an answer in words, the likeliest first. */
const ANSWERS = ['message', 'text', 'answer', 'reply', 'result', 'output'] as const;

/**
 * Tells the customer how a tool call ended, never in JSON. A result is cut to `maxCharacters`, or to
 * 1,000 if that is less. A payment link is never cut.
 * @returns null for an `invalid` call: the customer is not told about it
 */
export function callInWords(
  call: PastToolCall,
  language: Language,
  maxCharacters = MAX_TEXT_CHARACTERS,
): string | null {
  if (call.status === 'invalid') return null;
  const name = SENTENCES_OF_CALLS[call.status];
  if (name !== undefined) return sentence(name, language);
  return (
    madeLink(call, language)?.words ??
    cut(outcomeInWords(call.outcome, language), Math.min(maxCharacters, MAX_TEXT_CHARACTERS))
  );
}

/** @param outcome the result as JSON, which may be cut, or plain words */
function outcomeInWords(outcome: string, language: Language): string {
  const whole = jsonIn(outcome);
  // A JSON string that was cut has lost its closing quote.
  const result = whole === undefined ? jsonIn(`${outcome.replace(HALF_ESCAPE, '$1')}"`) : whole;
  return inWords(result === undefined ? outcome : result, language);
}

/**
 * The first half of an escape, such as `\u00`, at the place where the text was cut, after the whole
 * backslashes (`\\`) before it.
 */
const HALF_ESCAPE = /(?<!\\)((?:\\\\)*)\\(?:u[\da-f]{0,3})?(?=… \(cut\)$)/i;

function inWords(result: Json | undefined, language: Language, levelsLeft = MAX_NESTING): string {
  const done = sentence('toolDone', language);
  if (result === undefined || result === null || result === true || levelsLeft === 0) return done;
  if (typeof result === 'string') return textInWords(result, language, levelsLeft);
  if (Array.isArray(result)) return listInWords(result, language, levelsLeft);
  if (!isJsonObject(result))
    // a number or false
    return sentence('toolResult', language, { result: scalar(result, language)! });
  const answers = ANSWERS.map((name) => (Object.hasOwn(result, name) ? result[name] : null));
  const answer = answers.find((value) => typeof value === 'string' && value.trim() !== '');
  if (answer !== undefined) return inWords(answer, language, levelsLeft - 1);
  const entries = Object.entries(result).filter(([, value]) => value !== null && value !== '');
  if (entries.length === 1 && isContainer(entries[0]![1]))
    return inWords(entries[0]![1], language, levelsLeft - 1);
  const saysOnlyDone = entries.every(([name, value]) => isDone(name, value));
  const lines = saysOnlyDone ? null : flatLines(result, language);
  return lines === null ? done : sentence('toolResult', language, { result: lines.join('\n') });
}

/** `ok: true`, `status: "accepted"`, `status: 200`: that it worked, and no more. */
const isDone = (name: string, value: Json): boolean =>
  /^(?:ok|success(?:ful)?|succeeded|accepted|done|status(?:.?code)?|code)$/i.test(name) &&
  /^(?:true|ok|success(?:ful)?|succeeded|accepted|2\d\d)$/i.test(String(value));

/** A text may be JSON once more: automations like to wrap what they answer. */
function textInWords(text: string, language: Language, levelsLeft: number): string {
  if (!LOOKS_LIKE_JSON.test(text)) return text.trim();
  return inWords(jsonIn(text), language, levelsLeft - 1);
}

/**
 * Words may begin with a bracket: `[Order 1182] is on its way`. A list of JSON, also one that was cut,
 * goes on with a value. An empty text counts too: there is nothing to read in it either, nor in
 * `[object Object]`.
 */
const LOOKS_LIKE_JSON = /^\s*(?:\{|\[\s*(?:["'[{\]\d-]|(?:true|false|null)\b|object Object\]|$)|$)/;

function listInWords(items: readonly Json[], language: Language, levelsLeft: number): string {
  if (items.length === 0) return sentence('nothingFound', language);
  if (items.length === 1) return inWords(items[0]!, language, levelsLeft - 1);
  const lines = items
    .slice(0, MAX_ITEMS)
    .map((item) => scalar(item, language) ?? flatLines(item, language)?.join(', '));
  if (lines.includes(undefined)) return sentence('toolDone', language);
  const left = items.length - MAX_ITEMS;
  const more = left > 0 ? [sentence('moreItems', language, { count: String(left) })] : [];
  const result = [...lines.map((line) => `- ${line}`), ...more].join('\n');
  return sentence('toolResult', language, { result });
}

/**
 * `name: value` for each property that is a single value, or a short list of them. Null when there is
 * none, or too many.
 */
function flatLines(item: Json, language: Language): readonly string[] | null {
  const lines = Object.entries(isJsonObject(item) ? item : {}).flatMap(([name, value]) => {
    const values = [value].flat().map((each) => scalar(each, language));
    if (values.length === 0 || values.length > MAX_ITEMS || values.some((each) => !each)) return [];
    return [`${capitalizedName(name)}: ${values.join(', ')}`];
  });
  return lines.length === 0 || lines.length > MAX_LINES ? null : lines;
}

/** Null for a list, an object, null, and a text that is empty or looks like JSON. */
function scalar(value: Json, language: Language): string | null {
  if (typeof value === 'boolean') return sentence(value ? 'yes' : 'no', language);
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || LOOKS_LIKE_JSON.test(value)) return null;
  return value.replace(/\s+/g, ' ').trim();
}

const isContainer = (value: Json) => typeof value === 'object' && value !== null;

export function cut(text: string, length = MAX_TEXT_CHARACTERS): string {
  if (text.length <= length) return text;
  return `${text
    .slice(0, length - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}…`;
}

// ---- Payment links

/** A payment link, and the sentence that gives it to the customer. */
interface MadeLink {
  readonly url: string;
  readonly words: string;
}

/** The link that a call has made; null when it has made none. */
export function madeLink(
  { tool, status, outcome }: PastToolCall,
  language: Language,
): MadeLink | null {
  if (tool !== CREATE_PAYMENT_LINK || status !== 'succeeded') return null;
  const result = jsonIn(outcome);
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
