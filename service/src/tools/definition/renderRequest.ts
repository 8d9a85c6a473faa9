import { ARGUMENT_LIMITS } from './parametersSchema.ts';
import {
  brokenLimit,
  isJsonObject,
  ownField,
  type Json,
  type JsonObject,
} from '../../platform/json.ts';
import {
  isPlaceholder,
  parsePlaceholders,
  formatPlaceholder,
  type Part,
  type Placeholder,
} from './placeholders.ts';
import { HEADER_TEXT, sendsForm } from './requestHeaders.ts';
import type { RequestTemplate } from './requestTemplate.ts';
import { isDotSegment, parseUrlTemplate, type UrlTemplate } from './urlTemplate.ts';

/** The values that fill a template. */
interface RequestValues {
  readonly arguments: JsonObject;
  readonly conversationId: string;
  readonly callId: string;
  readonly secrets: Readonly<Record<string, string>>;
}

export interface RenderedRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case, so that code that adds a header sees which ones are set. */
  readonly headers: Record<string, string>;
  readonly body?: string;
}

/**
 * A value does not fit where the template puts it. `message` tells the agent and the team what is
 * wrong, and never holds a value.
 */
export class RequestRenderError extends Error {
  override readonly name = 'RequestRenderError';
}

const fail = (message: string): never => {
  throw new RequestRenderError(message);
};

/**
 * The most characters that placeholders may add to one request. Without this limit, a short
 * template could repeat one long argument many times.
 */
const MAX_FILLED_CHARACTERS = 256 * 1024;
const MAX_URL_CHARACTERS = 16 * 1024;
const MAX_HEADER_CHARACTERS = 8 * 1024;

/** Looks up the values of placeholders. */
class Values {
  readonly #values: RequestValues;
  #left = MAX_FILLED_CHARACTERS;

  constructor(values: RequestValues) {
    this.#values = values;
  }

  /** @returns undefined when an optional argument is absent */
  get(placeholder: Placeholder): Json | undefined {
    const value = this.#find(placeholder);
    if (value !== undefined)
      this.#left -= typeof value === 'string' ? value.length : JSON.stringify(value).length;
    if (this.#left < 0)
      fail('The arguments are too long: with them the request would be larger than 256 KiB.');
    return value;
  }

  #find(placeholder: Placeholder): Json | undefined {
    switch (placeholder.kind) {
      case 'argument':
        return placeholder.path.reduce<Json | undefined>(
          (json, name) => (isJsonObject(json) ? ownField(json, name) : undefined),
          this.#values.arguments,
        );
      case 'conversationId':
        return this.#values.conversationId;
      case 'callId':
        return this.#values.callId;
      case 'secret':
        return Object.hasOwn(this.#values.secrets, placeholder.name)
          ? this.#values.secrets[placeholder.name]
          : fail(
              `There is no secret ${placeholder.name} any more; store it again or change the tool.`,
            );
    }
  }
}

/**
 * A plain value as text.
 * @returns null when the value is null or absent
 */
function asText(value: Json | undefined, placeholder: Placeholder): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'object')
    return fail(
      `${formatPlaceholder(placeholder)} is a list or an object and cannot stand in a URL or a header.`,
    );
  const text = String(value);
  return text.isWellFormed()
    ? text
    : fail(`${formatPlaceholder(placeholder)} is not valid Unicode text.`);
}

type Texts = Readonly<Record<string, string>>;

const unchanged = (text: string) => text;

/** A text with its placeholders filled in. An absent value adds nothing. */
const joinParts = (
  parts: readonly Part[],
  values: Values,
  encode: (text: string) => string,
): string =>
  parts
    .map((part) => (isPlaceholder(part) ? encode(asText(values.get(part), part) ?? '') : part))
    .join('');

const solePlaceholder = (parts: readonly Part[]): Placeholder | null =>
  parts.length === 1 && isPlaceholder(parts[0]!) ? parts[0] : null;

/** The values of one query parameter: none when its argument is absent, several for a list. */
function queryTexts(
  parts: readonly Part[],
  values: Values,
  encode: (text: string) => string,
): string[] {
  const sole = solePlaceholder(parts);
  if (sole === null) return [joinParts(parts, values, encode)];
  const value = values.get(sole);
  const items: readonly (Json | undefined)[] = Array.isArray(value) ? value : [value];
  return items
    .map((item) => asText(item, sole))
    .filter((text) => text !== null)
    .map(encode);
}

function renderSegment(parts: readonly Part[], values: Values): string {
  const raw = parts.map((part) => {
    if (!isPlaceholder(part)) return part;
    return (
      asText(values.get(part), part) ||
      fail(`${formatPlaceholder(part)} stands in the path of the URL and has no value.`)
    );
  });
  const segment = raw
    .map((text, index) => (isPlaceholder(parts[index]!) ? encodeURIComponent(text) : text))
    .join('');
  // Characters that look like a dot are found only before they are encoded.
  if (isDotSegment(raw.join('')) || isDotSegment(segment))
    fail(
      `${parts.filter(isPlaceholder).map(formatPlaceholder).join(', ')} would turn a segment of the URL's path into . or .., which leads elsewhere.`,
    );
  return segment;
}

/** The query of the URL itself, then the template's `query`. */
function renderQuery({ pairs }: UrlTemplate, query: Texts, values: Values): string {
  const written = pairs.flatMap(([nameWithEquals, parts]) =>
    queryTexts(parts, values, encodeURIComponent).map((text) => nameWithEquals + text),
  );
  const added = new URLSearchParams();
  for (const [name, text] of Object.entries(query)) {
    for (const value of queryTexts(parsePlaceholders(text), values, unchanged))
      added.append(name, value);
  }
  return [...written, ...(added.size === 0 ? [] : [added.toString()])].join('&');
}

/** Makes sure that no value changes the origin or adds a path segment. */
function assertSameTarget(url: URL, template: UrlTemplate): void {
  const isSame =
    url.origin === new URL(template.origin).origin &&
    url.username === '' &&
    url.password === '' &&
    url.hash === '';
  if (!isSame || url.pathname.split('/').length !== template.segments.length + 1)
    fail('The arguments would change the address that is called.');
}

function renderUrl({ url: text, query = {} }: RequestTemplate, values: Values): string {
  const template = parseUrlTemplate(text);
  const path = template.segments.map((parts) => renderSegment(parts, values)).join('/');
  const search = renderQuery(template, query, values);
  const url =
    URL.parse(`${template.origin}/${path}${search === '' ? '' : `?${search}`}`) ??
    fail('The arguments do not make a valid address.');
  assertSameTarget(url, template);
  return url.href.length > MAX_URL_CHARACTERS
    ? fail('The arguments are too long for an address; it would have more than 16 KiB.')
    : url.href;
}

/** @returns null when the header is left out because its only argument is absent */
function renderHeader(name: string, parts: readonly Part[], values: Values): string | null {
  const sole = solePlaceholder(parts);
  const text = sole === null ? joinParts(parts, values, unchanged) : asText(values.get(sole), sole);
  if (text === null) return null;
  if (!HEADER_TEXT.test(text))
    fail(
      `The header ${name} would hold a character that a header cannot carry, such as a line break.`,
    );
  return text.length > MAX_HEADER_CHARACTERS
    ? fail(`The header ${name} would be longer than 8 KiB.`)
    : text.trim();
}

function renderHeaders(headers: Texts, values: Values): Record<string, string> {
  const rendered = Object.entries(headers).map(
    ([name, text]) =>
      [name.toLowerCase(), renderHeader(name, parsePlaceholders(text), values)] as const,
  );
  return Object.fromEntries(
    rendered.filter((header): header is [string, string] => header[1] !== null),
  );
}

/** A value inside a longer text of the body: lists and objects are written as JSON. */
const asBodyText = (value: Json | undefined) =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

function renderLeaf(text: string, values: Values): Json | undefined {
  const parts = parsePlaceholders(text);
  const sole = solePlaceholder(parts);
  return sole === null
    ? parts.map((part) => (isPlaceholder(part) ? asBodyText(values.get(part)) : part)).join('')
    : values.get(sole);
}

/** @returns undefined for a leaf whose only argument is absent */
function renderTree(tree: Json, values: Values): Json | undefined {
  if (typeof tree === 'string') return renderLeaf(tree, values);
  if (Array.isArray(tree)) return tree.map((item: Json) => renderTree(item, values) ?? null);
  if (!isJsonObject(tree)) return tree;
  const entries = Object.entries(tree).map(
    ([key, item]) => [key, renderTree(item, values)] as const,
  );
  return Object.fromEntries(
    entries.filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

function asForm(body: Json): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body as JsonObject)) {
    for (const item of [value].flat() as Json[]) {
      if (typeof item === 'object' && item !== null)
        fail(`The field ${name} of the form is an object; a form holds plain values only.`);
      if (item !== null) form.append(name, String(item));
    }
  }
  return form.toString();
}

function renderBody({ body, headers = {} }: RequestTemplate, values: Values): string | undefined {
  const rendered = body === undefined ? undefined : renderTree(body, values);
  if (rendered === undefined) return undefined;
  return sendsForm(headers) ? asForm(rendered) : JSON.stringify(rendered);
}

/**
 * Fills a template from `parseRequestTemplate`. No value can change the method, the origin, the number
 * of path segments or the names of headers. A JSON body gets its `content-type`.
 * @throws RequestRenderError
 */
export function renderRequest(template: RequestTemplate, given: RequestValues): RenderedRequest {
  if (brokenLimit(given.arguments, ARGUMENT_LIMITS) !== null)
    fail('The arguments are too large or nested too deeply for a request.');
  const values = new Values(given);
  const url = renderUrl(template, values);
  const headers = renderHeaders(template.headers ?? {}, values);
  const body = renderBody(template, values);
  if (body === undefined) return { method: template.method, url, headers };
  headers['content-type'] ??= 'application/json';
  return { method: template.method, url, headers, body };
}
