import { isJsonObject, ownField, type Json, type JsonObject } from '../../platform/json.ts';
import { resolveReference } from '../../tools/index.ts';
import { cut } from './resultWording.ts';
import { sentence } from './sentences.ts';
import { capitalizedName } from '../../platform/reading/words.ts';
import { LANGUAGES, type AgentTool, type Language } from '../agentModel.ts';

/** A property of a tool's parameters, whose value is looked for in the customer's messages. */
export interface Argument {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

/**
 * Further arguments of a tool are ignored: nobody answers that many questions in a chat. Of so many,
 * the required ones are kept first: a call without one of them is refused.
 */
const MAX_ARGUMENTS = 50;

/** By a tool's parameters, which never change in place. */
const cache = new WeakMap<JsonObject, readonly Argument[]>();

export function argumentsOf({ parameters }: AgentTool): readonly Argument[] {
  const found = cache.get(parameters) ?? atMost(MAX_ARGUMENTS, parseArguments(parameters));
  cache.set(parameters, found);
  return found;
}

function atMost(max: number, all: readonly Argument[]): readonly Argument[] {
  if (all.length <= max) return all;
  const required = all.filter((argument) => argument.required);
  return [...required, ...all.filter((argument) => !argument.required)].slice(0, max);
}

function parseArguments(parameters: JsonObject): readonly Argument[] {
  const root = resolve(parameters, parameters);
  const declared = ownField(root, 'properties');
  const required = listAt(root, 'required') ?? [];
  return Object.entries(isJsonObject(declared) ? declared : {}).map(([name, schema]) => ({
    name,
    schema: resolve(schema, parameters),
    required: required.includes(name),
  }));
}

/** The value of a schema's own property when it is a string, else null. */
export const stringAt = (schema: JsonObject, key: string): string | null => {
  const value = ownField(schema, key);
  return typeof value === 'string' ? value : null;
};

export const numberAt = (schema: JsonObject, key: string): number | null => {
  const value = ownField(schema, key);
  return typeof value === 'number' ? value : null;
};

export const listAt = (schema: JsonObject, key: string): readonly Json[] | null => {
  const value = ownField(schema, key);
  return Array.isArray(value) ? value : null;
};

/** The type that a schema asks for. When it allows several, the first one but `null`. */
export function typeOf(schema: JsonObject): string {
  const types = [ownField(schema, 'type')].flat();
  const named = types.find((type) => typeof type === 'string' && type !== 'null');
  if (typeof named === 'string') return named;
  return Object.hasOwn(schema, 'properties') ? 'object' : 'string';
}

/** Whether the customer can be asked for the argument. */
export const canBeAsked = ({ schema }: Argument): boolean =>
  typeOf(schema) !== 'object' || Object.hasOwn(schema, 'enum');

/** What a question of ours calls the thing it asks for, in each language. */
export type Label = (language: Language) => string;

/** @param asked what a question of ours asked for, in any language */
export const isLabel = (label: Label, asked: string): boolean =>
  LANGUAGES.some((language) => label(language) === asked);

export const isAskedFor = (argument: Argument, asked: string): boolean =>
  isLabel(labelOf(argument), asked);

const MAX_LABEL_CHARACTERS = 160;

/** Enough of a description to tell whether it is short enough once extra white space is removed. */
const MAX_DESCRIPTION_READ_CHARACTERS = 4 * MAX_LABEL_CHARACTERS;

/** The argument's description, or else its name, with a hint at possible answers. */
export const labelOf =
  (argument: Argument): Label =>
  (language) => {
    const described = (
      stringAt(argument.schema, 'description') ??
      stringAt(argument.schema, 'title') ??
      ''
    )
      .slice(0, MAX_DESCRIPTION_READ_CHARACTERS)
      .replace(/\s+/g, ' ')
      .trim()
      .replace(/[.:\s]+$/, '');
    const isShort = described !== '' && described.length <= MAX_LABEL_CHARACTERS;
    const name = isShort ? described : cut(capitalizedName(argument.name), MAX_LABEL_CHARACTERS);
    const hint = answerHint(argument.schema, language);
    return hint === null || name.includes('(') ? name : `${name} (${hint})`;
  };

const MAX_OPTIONS_SHOWN = 8;
const MAX_OPTION_CHARACTERS = 40;

const EXAMPLES = new Map([
  ['date', '2026-12-31'],
  ['time', '15:30'],
  ['date-time', '2026-12-31 15:30'],
]);

function answerHint(schema: JsonObject, language: Language): string | null {
  const options = listAt(schema, 'enum')?.filter(
    (option) => typeof option === 'string' || typeof option === 'number',
  );
  if (options !== undefined && options.length > 0)
    return options.length <= MAX_OPTIONS_SHOWN
      ? options.map((option) => cut(String(option), MAX_OPTION_CHARACTERS)).join(', ')
      : null;
  if (typeOf(schema) === 'boolean')
    return `${sentence('yes', language)} / ${sentence('no', language)}`;
  return EXAMPLES.get(stringAt(schema, 'format') ?? '') ?? null;
}

const MAX_STEPS = 16;
const REPLACED: ReadonlySet<string> = new Set(['$ref', 'anyOf', 'oneOf', 'allOf']);

/**
 * A schema with its local `$ref` followed, and with the first schema of `anyOf`, `oneOf` or `allOf`
 * that is not `null` in place of the list. A schema that cannot be resolved allows anything.
 */
function resolve(schema: Json | undefined, root: JsonObject): JsonObject {
  let current: JsonObject = isJsonObject(schema) ? schema : {};
  for (let step = 0; step < MAX_STEPS; step++) {
    const reference = stringAt(current, '$ref');
    const choice = (
      listAt(current, 'anyOf') ??
      listAt(current, 'oneOf') ??
      listAt(current, 'allOf')
    )?.find((each) => isJsonObject(each) && ownField(each, 'type') !== 'null');
    if (reference === null && choice === undefined) return current;
    const target = reference === null ? choice : resolveReference(root, reference);
    const rest = Object.entries(current).filter(([key]) => !REPLACED.has(key));
    current = { ...(isJsonObject(target) ? target : {}), ...Object.fromEntries(rest) };
  }
  return {};
}
