/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The text is not JSON, or exceeds a limit. `message` is a sentence that does not quote the text.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const isOpening = (code: number) => code === 0x7b || code === 0x5b;
const isClosing = (code: number) => code === 0x7d || code === 0x5d;

/** The index of the quote that ends the string at `start`, or the text's end if nothing ends it. */
export function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === BACKSLASH) index += 1;
    else if (code === QUOTE) return index;
  }
  return text.length;
}

interface Extent {
  /** How deep `JSON.parse` would recurse. */
  readonly depth: number;
  /** How many values `JSON.parse` would make, or a few more. */
  readonly values: number;
}

/** Measures a text in a plain loop, before it is parsed. Stops at the first limit exceeded. */
function extentOf(text: string, maxDepth: number, maxValues: number): Extent {
  let [depth, deepest, values] = [0, 0, 1];
  for (
    let index = 0;
    index < text.length && deepest <= maxDepth && values <= maxValues;
    index += 1
  ) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (code === COMMA) values += 1;
    else if (isClosing(code)) depth -= 1;
    else if (isOpening(code)) {
      values += 1;
      deepest = Math.max(deepest, ++depth);
    }
  }
  return { depth: deepest, values };
}

/** Whether a JSON text has more than `maxDepth` objects and lists inside each other. */
export const isDeeper = (text: string, maxDepth: number): boolean =>
  extentOf(text, maxDepth, Infinity).depth > maxDepth;

/**
 * Whether a value holds a number that is too large to store: `1e400` is JSON, and is parsed as
 * Infinity. The search does not recurse, so any depth is fine.
 */
export function holdsInfinity(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'number' && !Number.isFinite(next)) return true;
    if (typeof next === 'object' && next !== null)
      for (const child of Object.values(next)) open.push(child);
  }
  return false;
}

/**
 * Parses JSON from an untrusted source. Skips a byte order mark.
 * @param limits.maxDepth objects and lists inside each other; `{}` is one deep
 * @param limits.maxValues values in all; no limit when left out
 * @param parse how the text is parsed once it keeps to the limits
 * @throws JsonError
 */
export function parseJson(
  text: string,
  { maxDepth, maxValues = Infinity }: { maxDepth: number; maxValues?: number },
  parse: (json: string) => Json | undefined = jsonIn,
): Json {
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (json.trim() === '') throw new JsonError('There is no JSON, the text is empty.');
  const { depth, values } = extentOf(json, maxDepth, maxValues);
  if (depth > maxDepth) throw new JsonError(`The JSON is nested deeper than ${maxDepth} levels.`);
  if (values > maxValues)
    throw new JsonError(`The JSON holds more than ${maxValues.toLocaleString('en')} values.`);
  const value = parse(json);
  if (value === undefined) throw new JsonError('The text is not valid JSON.');
  if (holdsInfinity(value)) throw new JsonError('The JSON holds a number that is too large.');
  return value;
}

/** The value of a JSON text, without any limits; undefined when it is not JSON. */
export function jsonIn(text: string, reviver?: typeof keepLongInteger): Json | undefined {
  try {
    return JSON.parse(text, reviver) as Json;
  } catch {
    return undefined;
  }
}

/**
 * As `jsonIn`, but a whole number that would become another one, such as 1234567890123456789, stays
 * as it is written, as a text.
 */
export const exactJsonIn = (text: string): Json | undefined =>
  jsonIn(text, /\d{16}/.test(text) ? keepLongInteger : undefined);

function keepLongInteger(_key: string, value: Json, context?: { readonly source?: string }): Json {
  const source = context?.source ?? '';
  return /^-?\d{16,}$/.test(source) && String(value) !== source ? source : value;
}

interface JsonLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

/**
 * Which limit a value breaks when it is written as JSON in UTF-8; null for none. A value that
 * contains itself always breaks one.
 * @throws TypeError when it holds something that JSON cannot, such as a bigint
 */
export function brokenLimit(
  value: unknown,
  { maxBytes, maxDepth }: JsonLimits,
): keyof JsonLimits | null {
  const open: [value: unknown, depth: number][] = [[value, 1]];
  let count = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [container, depth] = next;
    if (typeof container !== 'object' || container === null) continue;
    if (depth > maxDepth) return 'maxDepth';
    const children = Object.values(container);
    count += children.length;
    // Each child takes at least a byte, so more children than bytes cannot fit.
    if (count > maxBytes) return 'maxBytes';
    for (const child of children) open.push([child, depth + 1]);
  }
  return Buffer.byteLength(JSON.stringify(value) ?? '') > maxBytes ? 'maxBytes' : null;
}

type Container = Json[] | Record<string, Json>;

/** Sets an own property, whatever its name: `copy['__proto__'] = …` would change what `copy` is. */
const setOwn = (target: Container, key: string, value: Json) =>
  Object.defineProperty(target, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });

/**
 * A copy with `change` applied to every text and every key. If two keys become equal, the later
 * value stays. Copying does not recurse, so any depth is fine.
 * @param changeNumber applied to every number; when left out, numbers stay
 */
export function mapStrings(
  value: Json,
  change: (text: string) => string,
  changeNumber: (number: number) => Json = (number) => number,
): Json {
  const open: [from: Json, to: Container][] = [];
  const copyOf = (json: Json): Json => {
    if (typeof json === 'string') return change(json);
    if (typeof json === 'number') return changeNumber(json);
    if (typeof json !== 'object' || json === null) return json;
    const copy: Container = Array.isArray(json) ? [] : {};
    open.push([json, copy]);
    return copy;
  };
  const root = copyOf(value);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, to] = next;
    if (Array.isArray(to)) for (const item of from as readonly Json[]) to.push(copyOf(item));
    else
      for (const [key, item] of Object.entries(from as JsonObject))
        setOwn(to, change(key), copyOf(item));
  }
  return root;
}

/** A field of the object itself; undefined for what every object has, such as `constructor`. */
export const ownField = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The fields that are not undefined. When an object is spread over another one, its undefined
 * fields would overwrite the other's values.
 */
export const definedOnly = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
