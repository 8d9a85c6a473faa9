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
  TemplateTextError,
  formatPlaceholder,
  type Part,
  type Placeholder,
} from './placeholders.ts';
import {
  FIXED_HEADERS,
  HEADER_NAME,
  HEADER_TEXT,
  holdsBareKey,
  sendsForm,
} from './requestHeaders.ts';
import { fieldFinder } from './schemaDocument.ts';
import { isDotSegment, parseUrlTemplate } from './urlTemplate.ts';
import { shorten } from '../../platform/shorten.ts';

/** How an HTTP tool calls an existing API. Its keys are spelled as in the service's own API. */
export interface RequestTemplate {
  /** GET, POST, PUT, PATCH or DELETE. */
  readonly method: string;
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A leaf that is exactly one placeholder keeps the argument's type. */
  readonly body?: Json;
  /** The fields of the answer that the agent sees, as dot paths. Absent: all fields. */
  readonly response_fields?: readonly string[];
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A request template that cannot be used; `message` says what is wrong and what to do. */
export class RequestTemplateError extends Error {
  override readonly name = 'RequestTemplateError';
  /** What the error is about, such as `request_template.headers.X-Api-Key`. */
  readonly param: string;

  constructor(param: string, what: string) {
    super(`${param} ${what}`);
    this.param = param;
  }
}

/** What placeholders may name. */
interface KnownNames {
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  readonly secretNames: readonly string[];
}

const ROOT = 'request_template';
const LIMITS = { maxBytes: 32 * 1024, maxDepth: 32 };
const MAX_ENTRIES = 50;
const MAX_NAME_CHARACTERS = 256;
const MAX_RESPONSE_FIELDS = 100;

const fail = (param: string, what: string): never => {
  throw new RequestTemplateError(param, what);
};

/** The `param` of an entry: `request_template.headers.X-Api-Key`. A long name is cut. */
const inside = (param: string, name: string) => `${param}.${shorten(name, 80)}`;

/** Reads a text and checks every placeholder in it. */
type CheckText = (text: string, param: string, place: 'header' | 'elsewhere') => Part[];

function textChecker({ parameters, secretNames }: KnownNames): CheckText {
  const isField = fieldFinder(parameters);
  const checkPlaceholder = (placeholder: Placeholder, param: string, place: string) => {
    const written = formatPlaceholder(placeholder);
    if (placeholder.kind === 'argument' && !isField(placeholder.path))
      fail(
        param,
        `holds ${written}, but parameters has no such property; add it there or correct the name.`,
      );
    if (placeholder.kind !== 'secret') return;
    if (place !== 'header')
      fail(
        param,
        `holds ${written}; secrets may stand in headers only, since URLs and bodies are stored and shown.`,
      );
    if (!secretNames.includes(placeholder.name))
      fail(
        param,
        `holds ${written}, but there is no secret of that name; add it to secrets or correct the name.`,
      );
  };
  return (text, param, place) => {
    const parts = readParts(param, () => parsePlaceholders(text));
    for (const part of parts) if (isPlaceholder(part)) checkPlaceholder(part, param, place);
    return parts;
  };
}

/** Adds `param` to errors that `read` throws about a text. */
function readParts<T>(param: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof TemplateTextError) return fail(param, error.message);
    throw error;
  }
}

function parseMethod(value: Json | undefined): string {
  const method = METHODS.find(
    (known) => typeof value === 'string' && known === value.toUpperCase(),
  );
  return method ?? fail(`${ROOT}.method`, `must be one of ${METHODS.join(', ')}.`);
}

function parseUrl(value: Json | undefined, checkText: CheckText): string {
  const param = `${ROOT}.url`;
  if (typeof value !== 'string')
    return fail(
      param,
      'must be the address to call, like https://api.example.com/orders/{{args.id}}.',
    );
  checkText(value, param, 'elsewhere');
  const { segments } = readParts(param, () => parseUrlTemplate(value));
  // A segment with placeholders is checked when they are filled in.
  const fixed = segments
    .filter((parts) => !parts.some(isPlaceholder))
    .map((parts) => parts.join(''));
  if (fixed.some(isDotSegment))
    fail(param, 'must not have . or .. as a part of its path; write the path out.');
  return value;
}

function assertFixedName(name: string, param: string): void {
  if (name.includes('{{'))
    fail(
      inside(param, name),
      'holds a placeholder in its name; placeholders may stand in values only.',
    );
}

/** Reads an object whose values are strings and whose names hold no placeholders. */
function parseTexts(value: Json | undefined, param: string): [name: string, text: string][] {
  if (value === undefined || value === null) return [];
  if (!isJsonObject(value))
    return fail(param, 'must be an object of names and texts, like {"limit":"10"}.');
  const entries = Object.entries(value);
  if (entries.length > MAX_ENTRIES) fail(param, `must have at most ${MAX_ENTRIES} entries.`);
  return entries.map(([name, text]) => {
    if (name === '' || name.length > MAX_NAME_CHARACTERS)
      fail(param, `must have names of 1 to ${MAX_NAME_CHARACTERS} characters.`);
    assertFixedName(name, param);
    return [
      name,
      typeof text === 'string'
        ? text
        : fail(inside(param, name), 'must be a string; write a number as "10".'),
    ];
  });
}

function parseQuery(value: Json | undefined, checkText: CheckText): Record<string, string> {
  const param = `${ROOT}.query`;
  const entries = parseTexts(value, param);
  for (const [name, text] of entries) {
    checkText(text, inside(param, name), 'elsewhere');
    if (!name.isWellFormed() || !text.isWellFormed())
      fail(inside(param, name), 'is not valid Unicode text.');
  }
  return Object.fromEntries(entries);
}

function parseHeaders(value: Json | undefined, checkText: CheckText): Record<string, string> {
  const entries = parseTexts(value, `${ROOT}.headers`);
  const seen = new Set<string>();
  for (const [name, text] of entries) {
    const param = inside(`${ROOT}.headers`, name);
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name))
      fail(param, 'is not a valid header name; use letters, digits and hyphens.');
    if (FIXED_HEADERS.has(lower))
      fail(
        param,
        'cannot be set, since the URL, the body or the connection decides it. Leave it out.',
      );
    if (seen.has(lower)) fail(param, 'is given twice, in different spellings; keep one.');
    seen.add(lower);
    checkHeaderText(name, checkText(text, param, 'header'), param);
    if (holdsBareKey(name, text))
      fail(
        param,
        'would be stored and shown in the clear; put the key into secrets and write {{secrets.NAME}} in its place.',
      );
  }
  return Object.fromEntries(entries);
}

function checkHeaderText(name: string, parts: readonly Part[], param: string): void {
  const isLegal = parts.every((part) => isPlaceholder(part) || HEADER_TEXT.test(part));
  if (!isLegal)
    fail(param, 'holds a character that a header cannot carry, such as a line break; take it out.');
  if (name.toLowerCase() === 'content-type' && (parts.length === 0 || parts.some(isPlaceholder)))
    fail(param, 'must be a fixed content type without placeholders, like application/json.');
}

function checkBody(body: Json, param: string, checkText: CheckText): void {
  if (typeof body === 'string') checkText(body, param, 'elsewhere');
  else if (Array.isArray(body))
    body.forEach((item: Json, index) => checkBody(item, inside(param, String(index)), checkText));
  else if (isJsonObject(body)) {
    for (const [key, item] of Object.entries(body)) {
      assertFixedName(key, param);
      checkBody(item, inside(param, key), checkText);
    }
  }
}

function checkForm(body: Json): void {
  const isFlat =
    isJsonObject(body) &&
    Object.values(body).every((value) => typeof value !== 'object' || value === null);
  if (!isFlat)
    fail(
      `${ROOT}.body`,
      'must be a flat object of names and values to be sent as a form; or send JSON, with another Content-Type.',
    );
}

function parseResponseFields(value: Json | undefined): string[] {
  const param = `${ROOT}.response_fields`;
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value))
    return fail(param, 'must be a list of paths, like ["items.name","total"].');
  if (value.length > MAX_RESPONSE_FIELDS)
    fail(param, `must have at most ${MAX_RESPONSE_FIELDS} paths.`);
  return value.map((path: Json, index) => {
    const isPath =
      typeof path === 'string' &&
      path.length <= MAX_NAME_CHARACTERS &&
      path.split('.').every((name) => name !== '');
    return isPath
      ? path
      : fail(
          inside(param, String(index)),
          'must be a path of names with dots between them, like items.name.',
        );
  });
}

const KEYS: readonly string[] = ['method', 'url', 'query', 'headers', 'body', 'response_fields'];

function readObject(value: unknown): JsonObject {
  if (!isJsonObject(value))
    return fail(
      ROOT,
      'must be an object, like {"method":"GET","url":"https://api.example.com/orders/{{args.id}}"}.',
    );
  const broken = brokenLimit(value, LIMITS);
  if (broken === 'maxBytes') fail(ROOT, `must take at most ${LIMITS.maxBytes} bytes as JSON.`);
  if (broken === 'maxDepth')
    fail(ROOT, `must not be nested deeper than ${LIMITS.maxDepth} levels.`);
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined)
    fail(inside(ROOT, unknown), `is not known; a request template has ${KEYS.join(', ')}.`);
  return value;
}

/**
 * Reads and checks a template when a tool is saved. An optional part that is `null` counts as absent,
 * and so does an empty list of response fields.
 * @returns the stored form: the method in capitals, query and headers always present
 * @throws RequestTemplateError
 */
export function parseRequestTemplate(value: unknown, known: KnownNames): RequestTemplate {
  const wanted = readObject(value);
  const checkText = textChecker(known);
  const method = parseMethod(ownField(wanted, 'method'));
  const url = parseUrl(ownField(wanted, 'url'), checkText);
  const query = parseQuery(ownField(wanted, 'query'), checkText);
  const headers = parseHeaders(ownField(wanted, 'headers'), checkText);
  const fields = parseResponseFields(ownField(wanted, 'response_fields'));
  const body = ownField(wanted, 'body') ?? undefined;
  if (body !== undefined) {
    if (method === 'GET')
      fail(`${ROOT}.body`, 'cannot be sent with GET; leave it out, or use POST.');
    checkBody(body, `${ROOT}.body`, checkText);
    if (sendsForm(headers)) checkForm(body);
  }
  return {
    method,
    url,
    query,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(fields.length === 0 ? {} : { response_fields: fields }),
  };
}
