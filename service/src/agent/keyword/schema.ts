import { isJsonObject, type Json, type JsonObject } from '../../platform/json.ts';
import { resolveReference } from '../../tools/index.ts';
import { sentence } from './sentences.ts';
import { readableName } from './words.ts';
import { LANGUAGES, type AgentTool, type Language } from '../agentModel.ts';

/** A property of a tool's parameters: what has to be found in a message. */
export interface Argument {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

/** Of a tool with more, the first are looked at: nobody is asked so many questions in a chat. */
const MAX_ARGUMENTS = 50;

/** Parameters never change in place: each is read once. */
const known = new WeakMap<JsonObject, readonly Argument[]>();

export function argumentsOf({ parameters }: AgentTool): readonly Argument[] {
  const found = known.get(parameters) ?? readArguments(parameters).slice(0, MAX_ARGUMENTS);
  known.set(parameters, found);
  return found;
}

function readArguments(parameters: JsonObject): readonly Argument[] {
  const root = resolve(parameters, parameters);
  const declared = own(root, 'properties');
  const required = list(root, 'required') ?? [];
  return Object.entries(isJsonObject(declared) ? declared : {}).map(([name, schema]) => ({
    name,
    schema: resolve(schema, parameters),
    required: required.includes(name),
  }));
}

/** The value of an own property of a schema, as a string. */
export const text = (schema: JsonObject, key: string): string | null => {
  const value = own(schema, key);
  return typeof value === 'string' ? value : null;
};

export const number = (schema: JsonObject, key: string): number | null => {
  const value = own(schema, key);
  return typeof value === 'number' ? value : null;
};

export const list = (schema: JsonObject, key: string): readonly Json[] | null => {
  const value = own(schema, key);
  return Array.isArray(value) ? value : null;
};

export const own = (schema: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(schema, key) ? schema[key] : undefined;

/** The type that a schema asks for; of several, the first that says something. */
export function typeOf(schema: JsonObject): string {
  const types = [own(schema, 'type')].flat();
  const named = types.find((type) => typeof type === 'string' && type !== 'null');
  if (typeof named === 'string') return named;
  return Object.hasOwn(schema, 'properties') ? 'object' : 'string';
}

/** Whether the customer can be asked for the argument. */
export const canBeAsked = ({ schema }: Argument): boolean =>
  typeOf(schema) !== 'object' || Object.hasOwn(schema, 'enum');

/** What the asking sentence calls something, in each language. */
export type Label = (language: Language) => string;

/** Whether a question of ours asked for this, in any language. */
export const isLabel = (label: Label, asked: string): boolean =>
  LANGUAGES.some((language) => label(language) === asked);

export const isNamed = (argument: Argument, asked: string): boolean =>
  isLabel(labelOf(argument), asked);

const MAX_LABEL = 160;

/** Longer descriptions are no label, with however much white space. */
const MAX_DESCRIPTION_READ = 4 * MAX_LABEL;

/** The argument's description, or else its name, with what can be answered. */
export const labelOf =
  (argument: Argument): Label =>
  (language) => {
    const described = (text(argument.schema, 'description') ?? text(argument.schema, 'title') ?? '')
      .slice(0, MAX_DESCRIPTION_READ)
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[.:\s]+$/, '');
    const isShort = described !== '' && described.length <= MAX_LABEL;
    const name = isShort ? described : readableName(argument.name).slice(0, MAX_LABEL);
    const hint = answerHint(argument.schema, language);
    return hint === null || name.includes('(') ? name : `${name} (${hint})`;
  };

const EXAMPLES = new Map([
  ['date', '2026-12-31'],
  ['time', '15:30'],
  ['date-time', '2026-12-31 15:30'],
]);

function answerHint(schema: JsonObject, language: Language): string | null {
  const options = list(schema, 'enum')?.filter(
    (option) => typeof option === 'string' || typeof option === 'number',
  );
  if (options !== undefined && options.length > 0)
    return options.length <= 8
      ? options.map((option) => String(option).slice(0, 40)).join(', ')
      : null;
  if (typeOf(schema) === 'boolean')
    return `${sentence('yes', language)} / ${sentence('no', language)}`;
  return EXAMPLES.get(text(schema, 'format') ?? '') ?? null;
}

const MAX_REFERENCES = 16;
const REPLACED: ReadonlySet<string> = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);

/**
 * A schema with its local `$ref` followed, and of a choice the first that is not null. What cannot
 * be resolved allows anything.
 */
function resolve(schema: Json | undefined, root: JsonObject): JsonObject {
  let current: JsonObject = isJsonObject(schema) ? schema : {};
  for (let step = 0; step < MAX_REFERENCES; step++) {
    const reference = text(current, '$ref');
    const choice = (
      list(current, 'anyOf') ??
      list(current, 'oneOf') ??
      list(current, 'allOf')
    )?.find((each) => isJsonObject(each) && own(each, 'type') !== 'null');
    if (reference === null && choice === undefined) return current;
    const target = reference === null ? choice : resolveReference(root, reference);
    const rest = Object.entries(current).filter(([key]) => !REPLACED.has(key));
    current = { ...(isJsonObject(target) ? target : {}), ...Object.fromEntries(rest) };
  }
  return {};
}
