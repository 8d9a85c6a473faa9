import {
  AGENT_HANDOVER_REASONS,
  MAX_REPLY_CHARACTERS,
  MAX_SUMMARY_CHARACTERS,
  VERDICTS,
  type AgentHandoverReason,
  type Verdict,
} from '../../conversations/index.ts';
import { isJsonObject, JsonError, mapStrings, parseJson, type Json } from '../../platform/json.ts';
import type { OutboundResponse } from '../../platform/outbound/outboundClient.ts';
import { cutText } from '../cutText.ts';
import { MAX_ANSWER_TEXTS, MAX_HANDOVER_NOTE_CHARACTERS, type TurnAnswer } from './webhookTurn.ts';

/** An answer that cannot be used. `message` is a sentence for the team. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

const JSON_LIMITS = { maxDepth: 32, maxValues: 20_000 };
const SAY_NOTHING = 'To say nothing, answer `{}` or an empty list.';

/**
 * Reads what a workflow answered with a 2xx: `{reply, hand_over, close}`, or the items of its last
 * node, whose `output`, `reply` or `text` are messages.
 * @param clean removes what must not be stored
 * @throws UnreadableAnswer
 */
export function readAnswer(
  { status, headers, body }: Pick<OutboundResponse, 'status' | 'headers' | 'body'>,
  clean: (text: string) => string,
): TurnAnswer {
  if (status === 204) return answerOf([]);
  if (body.length === 0)
    throw new UnreadableAnswer(
      `The workflow answered ${status} with an empty body. ${SAY_NOTHING}`,
    );
  const type = headers['content-type'];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type))
    throw new UnreadableAnswer(
      `The workflow answered ${status} with Content-Type ${JSON.stringify(clean(type).slice(0, 100))}, not with JSON.`,
    );
  const items = itemsOf(mapStrings(parse(body), clean));
  const parts = items.flatMap(readItem);
  if (parts.length === 0 && !items.every(saysNothing))
    throw new UnreadableAnswer(
      `The workflow answered without \`output\`, \`reply\`, \`text\`, \`hand_over\` or \`close\`. ${SAY_NOTHING}`,
    );
  return answerOf(parts);
}

function parse(body: Buffer): Json {
  try {
    return parseJson(decode(body), JSON_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new UnreadableAnswer(`The answer of the workflow cannot be read. ${error.message}`);
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new JsonError('It holds bytes that are not UTF-8.');
  }
}

type Item = { readonly [name: string]: Json };

function itemsOf(answer: Json): readonly Item[] {
  const items = Array.isArray(answer) ? (answer as readonly Json[]) : [answer];
  return items.map((item) => {
    if (isJsonObject(item)) return item;
    throw new UnreadableAnswer(
      'The workflow answered with JSON that is neither an object nor a list of objects.',
    );
  });
}

type Part =
  | { readonly type: 'message'; readonly text: string }
  | Exclude<TurnAnswer['then'], { type: 'end' | 'go_on' }>;

/** The parts of one item, in the order in which they are carried out. */
function readItem(item: Item): readonly Part[] {
  const { output = null, hand_over: handOver = null, close = null } = item;
  const messageOf = (text: Json) => ({ type: 'message', text: readText(text) }) as const;
  // An AI Agent with a structured output parser puts the whole answer into `output`.
  const said = isJsonObject(output)
    ? readItem(output)
    : textsOf(output ?? item.reply ?? item.text ?? null).map(messageOf);
  // The fields beside `output` may be copies of those in it.
  if (said.some(({ type }) => type !== 'message')) return said;
  return [
    ...said,
    ...(isAbsent(handOver) ? [] : [readHandOver(handOver)]),
    ...(isAbsent(close) ? [] : [readClose(close)]),
  ];
}

/** Whether an item without parts means to say nothing: it is empty, or its list of messages is. */
function saysNothing(item: Item): boolean {
  const said = item.output ?? item.reply ?? item.text;
  if (isJsonObject(said)) return saysNothing(said);
  return Array.isArray(said) || Object.keys(item).length === 0;
}

/** A form or a model that has nothing to say here often leaves an empty text. */
const isAbsent = (value: Json) =>
  value === null || value === false || (typeof value === 'string' && value.trim() === '');

const textsOf = (said: Json): readonly Json[] =>
  said === null ? [] : Array.isArray(said) ? (said as readonly Json[]) : [said];

function readText(value: Json): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string')
    throw new UnreadableAnswer('The workflow answered with a message that is not a text.');
  if (text.trim() === '')
    throw new UnreadableAnswer(`The workflow answered with an empty text. ${SAY_NOTHING}`);
  return cutText(text, MAX_REPLY_CHARACTERS);
}

const shortText = (value: Json | undefined, max: number) =>
  typeof value === 'string' && value.trim() !== '' ? cutText(value, max) : null;

/** Words that are no known reason are a note for the team. */
function readHandOver(value: Json): Part {
  const fields = isJsonObject(value) ? value : { reason: value };
  const reason = AGENT_HANDOVER_REASONS.find((each) => each === fields.reason);
  const words = [reason === undefined ? fields.reason : null, fields.note]
    .map((each) => shortText(each, MAX_HANDOVER_NOTE_CHARACTERS))
    .filter((each) => each !== null);
  return {
    type: 'hand_over',
    reason: reason ?? ('missing_knowledge' satisfies AgentHandoverReason),
    note: words.length === 0 ? null : cutText(words.join('\n'), MAX_HANDOVER_NOTE_CHARACTERS),
  };
}

function readClose(value: Json): Part {
  const fields = isJsonObject(value) ? value : {};
  const verdict = VERDICTS.find((each) => each === fields.verdict);
  const summary = shortText(fields.summary, MAX_SUMMARY_CHARACTERS);
  if (verdict === undefined || summary === null)
    throw new UnreadableAnswer(
      `The workflow closes without a \`summary\` or without a \`verdict\` that is one of ${VERDICTS.join(', ')}.`,
    );
  return { type: 'close', verdict: verdict satisfies Verdict, summary };
}

function answerOf(parts: readonly Part[]): TurnAnswer {
  const texts = parts.flatMap((part) => (part.type === 'message' ? [part.text] : []));
  const ends = parts.filter((part) => part.type !== 'message');
  if (texts.length > MAX_ANSWER_TEXTS)
    throw new UnreadableAnswer(
      `The workflow answered with ${texts.length} messages; at most ${MAX_ANSWER_TEXTS} are sent at once.`,
    );
  if (ends.length > 1)
    throw new UnreadableAnswer('The workflow asked to hand over or to close more than once.');
  return { texts, then: ends[0] ?? { type: 'end' } };
}
