import {
  isJsonObject,
  JsonError,
  parseJson,
  type Json,
  type JsonObject,
} from '../../platform/json.ts';

/** Objects and lists in a text area of a form: one entry per line, or JSON. */

/** A text that cannot be read. `message` says what to do. */
export class FormTextError extends Error {
  override readonly name = 'FormTextError';
}

const MAX_DEPTH = 64;

/** A text as JSON; undefined when it is empty. @throws FormTextError */
export function jsonFrom(text: string): Json | undefined {
  if (text.trim() === '') return undefined;
  try {
    return parseJson(text, { maxDepth: MAX_DEPTH });
  } catch (error) {
    if (error instanceof JsonError) throw new FormTextError(`${error.message} ${HELP}`);
    throw error;
  }
}

const HELP = 'Put names, texts and placeholders in double quotes.';

/** @throws FormTextError when it is not an object */
export function jsonObjectFrom(text: string): JsonObject | undefined {
  const json = jsonFrom(text);
  if (json !== undefined && !isJsonObject(json))
    throw new FormTextError('Enter an object, such as {"name": "value"}.');
  return json;
}

/** Readable JSON; empty for undefined. */
export const prettyJson = (json: Json | undefined): string =>
  json === undefined ? '' : JSON.stringify(json, null, 2);

type Separator = ':' | '=';

/**
 * Names and texts, one pair a line (`Name: text`), or as a JSON object.
 * @throws FormTextError
 */
export function pairsFrom(text: string, separator: Separator): JsonObject {
  if (text.trim().startsWith('{')) return jsonObjectFrom(text) ?? {};
  const pairs = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
    const at = line.indexOf(separator);
    const name = line.slice(0, Math.max(0, at)).trim();
    if (name === '')
      throw new FormTextError(
        `“${line.trim().slice(0, 60).toWellFormed()}” has no ${separator} after a name. Enter one ${example(separator)} per line.`,
      );
    if (pairs.has(name)) throw new FormTextError(`${name} is listed twice. Keep one.`);
    pairs.set(name, line.slice(at + 1).trim());
  }
  return Object.fromEntries(pairs);
}

const example = (separator: Separator) => (separator === ':' ? 'Name: value' : 'name=value');

/** The text for `pairsFrom`: lines, or JSON when lines cannot hold the pairs. */
export function pairsText(pairs: Readonly<Record<string, string>>, separator: Separator): string {
  const entries = Object.entries(pairs);
  const fits = entries.every(
    ([name, text]) =>
      name === name.trim() &&
      text === text.trim() &&
      !/[\r\n]/.test(name + text) &&
      !name.includes(separator) &&
      !name.startsWith('{'),
  );
  const between = separator === ':' ? ': ' : '=';
  return fits
    ? entries.map(([name, text]) => `${name}${between}${text}`).join('\n')
    : prettyJson(pairs);
}

/** One entry per line; empty lines are left out. */
export const linesFrom = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
