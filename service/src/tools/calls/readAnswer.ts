import {
  exactJsonIn,
  JsonError,
  parseJson,
  isJsonObject,
  type Json,
  mapStrings,
} from '../../platform/json.ts';
import type { ToolAttemptResult, ToolCallErrorType } from './toolCall.ts';
import type { OutboundResponse } from '../../platform/outbound/outboundClient.ts';
import { scrubber } from './scrubber.ts';
import type { ToolAddress } from './toolRequest.ts';

/**
 * A value takes up to 200 bytes in memory, so half a million `{}` take 100 MB. 5 MB of ordinary JSON
 * hold about 300,000 values.
 */
const MAX_VALUES = 500_000;
const JSON_LIMITS = { maxDepth: 64, maxValues: MAX_VALUES };
const EXCERPT_CHARACTERS = 300;

/** The part of an endpoint's response that is read. */
export type Answer = Pick<OutboundResponse, 'status' | 'durationMs' | 'headers'> & {
  readonly body: Uint8Array;
};

/** Removes the tool's secrets from a text. */
type Clean = (text: string) => string;

/**
 * Reads an answer, or says why it is a failure. The status decides first.
 * @param clean removes secrets from an error's quote before the cut, since half a secret would stay
 */
function readAnswer(address: ToolAddress, response: Answer, clean: Clean): ToolAttemptResult {
  const { status } = response;
  if (status >= 200 && status < 300) return readSuccess(address, response, clean);
  if (status >= 300 && status < 400 && address.kind === 'Webhook')
    return failure(
      response,
      'never',
      'redirect',
      `The endpoint answered ${status}; redirects of a Webhook tool are not followed. Give the final address as endpoint.`,
    );
  return failure(
    response,
    status >= 500 ? 'later' : 'never',
    'http_status',
    `The endpoint answered ${status}${excerpt(response, clean)}`,
  );
}

const failure = (
  { status, durationMs }: Answer,
  retry: 'later' | 'never',
  type: ToolCallErrorType,
  message: string,
): ToolAttemptResult => ({
  type: 'failure',
  retry,
  httpStatus: status,
  durationMs,
  error: { type, message },
});

function readSuccess(address: ToolAddress, response: Answer, clean: Clean): ToolAttemptResult {
  const { status, durationMs } = response;
  try {
    const result =
      address.kind === 'Webhook'
        ? readJson(response, clean)
        : readAnyType(response, address.template.response_fields, clean);
    const secrets = secretsOf(address);
    const cleanNumber = (number: number): Json => {
      const text = String(number);
      const cleaned = secrets.includes(text) ? clean(text) : text;
      return cleaned === text ? number : cleaned;
    };
    const resultJson = JSON.stringify(mapStrings(result, clean, cleanNumber));
    return { type: 'success', httpStatus: status, durationMs, resultJson };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const problem = `${error.message[0]!.toLowerCase()}${error.message.slice(1)}`;
    const message = `The endpoint answered ${status}, but ${problem} Nothing of it was used.`;
    return failure(response, 'never', 'invalid_response', message);
  }
}

/** A Webhook tool answers JSON, and says so. */
function readJson({ headers, body }: Answer, clean: Clean): Json {
  if (body.length === 0) throw new JsonError('with an empty body; it has to answer with JSON.');
  const type = headers['content-type'];
  if (!isJson(type))
    throw new JsonError(
      `with Content-Type ${quoted(type, clean)}; it has to answer JSON as application/json.`,
    );
  return parseJson(decode(body), JSON_LIMITS, exactJsonIn);
}

/** An existing API answers JSON, text or nothing. */
function readAnyType(
  { headers, body }: Answer,
  fields: readonly string[] | undefined,
  clean: Clean,
): Json {
  const type = headers['content-type'];
  if (body.length === 0) return null;
  if (type === undefined || isJson(type))
    return selectFields(parseJson(decode(body), JSON_LIMITS, exactJsonIn), fields);
  if (fields !== undefined)
    throw new JsonError(
      `with Content-Type ${quoted(type, clean)}; response_fields can be taken from JSON only.`,
    );
  if (!/^text\//i.test(type))
    throw new JsonError(
      `with Content-Type ${quoted(type, clean)}; only JSON and text can be read.`,
    );
  return decode(body);
}

const isJson = (type: string | undefined) =>
  type !== undefined && /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);

const quoted = (type: string | undefined, clean: Clean) =>
  JSON.stringify(clean(type ?? '').slice(0, 100));

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new JsonError('with bytes that are not UTF-8.');
  }
}

/** What the endpoint said, for the person who fixes it. */
function excerpt({ body }: Answer, clean: Clean): string {
  const text = clean(new TextDecoder().decode(body)).trim();
  return text === ''
    ? '.'
    : `: ${[...text.slice(0, 2 * EXCERPT_CHARACTERS)].slice(0, EXCERPT_CHARACTERS).join('')}`;
}

/** Dot paths as a tree. Where a path ends, everything below is kept (`all`). */
interface Selection {
  readonly all: boolean;
  readonly fields: ReadonlyMap<string, Selection>;
}

function selectionOf(paths: readonly (readonly string[])[]): Selection {
  const below = Map.groupBy(
    paths.filter((path) => path.length > 0),
    ([name]) => name!,
  );
  const fields = [...below].map(
    ([name, inner]) => [name, selectionOf(inner.map((path) => path.slice(1)))] as const,
  );
  return { all: paths.some((path) => path.length === 0), fields: new Map(fields) };
}

/** How many lists may lie directly inside each other. A path has no names for these levels. */
const MAX_NESTED_LISTS = 32;

/** @returns undefined when nothing of the value is selected */
function select(value: Json, selection: Selection, nestedLists: number): Json | undefined {
  if (selection.all) return value;
  if (Array.isArray(value)) {
    if (nestedLists >= MAX_NESTED_LISTS) return undefined;
    return value
      .map((item: Json) => select(item, selection, nestedLists + 1))
      .filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return undefined;
  const kept = [...selection.fields].flatMap(([name, inner]): [string, Json][] => {
    const field = Object.hasOwn(value, name) ? select(value[name]!, inner, 0) : undefined;
    return field === undefined ? [] : [[name, field]];
  });
  return Object.fromEntries(kept);
}

/**
 * Keeps the fields of an answer that the dot paths name, in the answer's own structure. A path applies
 * to every item of a list (`items.name`). A path that matches nothing keeps nothing.
 * @param fields when absent or empty, keeps everything
 * @returns null when the answer is a plain value, which has no fields
 */
export function selectFields(result: Json, fields: readonly string[] | undefined): Json {
  if (fields === undefined || fields.length === 0) return result;
  return select(result, selectionOf(fields.map((path) => path.split('.'))), 0) ?? null;
}

/** An answer to read, and the address it came from. Plain data, since it goes to a thread. */
export interface AnswerTask {
  readonly address: ToolAddress;
  readonly response: Answer;
}

/**
 * The secrets that must not be shown. For a signing secret, the part after `whsec_` too: it is the key
 * of the Standard Webhooks signature.
 */
const secretsOf = (address: ToolAddress): readonly string[] =>
  address.kind === 'Webhook'
    ? [address.secret, address.secret.replace(/^whsec_/, '')]
    : Object.values(address.secrets);

/**
 * Removes a tool's secrets from a text, and replaces what cannot be stored: lone surrogates and NUL.
 */
export function answerCleaner(address: ToolAddress): (text: string) => string {
  const withoutSecrets = scrubber(secretsOf(address));
  return (text) => withoutSecrets(text).toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * Reads the answer to an attempt. An endpoint may echo what it was sent, so the tool's secrets are
 * removed from all that is stored or shown.
 */
export function readAttempt({ address, response }: AnswerTask): ToolAttemptResult {
  const clean = answerCleaner(address);
  const result = readAnswer(address, response, clean);
  if (result.type === 'success') return result;
  return { ...result, error: { ...result.error, message: clean(result.error.message) } };
}
