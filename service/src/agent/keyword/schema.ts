import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import { resolveReference } from '../../domain/schemaDocument.ts';
import { sentence } from '../sentences.ts';
import { readableName } from '../words.ts';
import type { AgentTool, Language } from '../agentModel.ts';

/**
 * A tool's parameters as the flat list of what has to be found in a message. The properties that an
 * object requires stand in the list themselves, one level deep.
 */
export interface Argument {
  /** Where the value goes: `['order_id']`, or `['address', 'city']`. */
  readonly path: readonly [string] | readonly [string, string];
  readonly schema: JsonObject;
  readonly required: boolean;
}

export const nameOf = (argument: Argument): string => argument.path.at(-1)!;

/** Of a tool with more, the first are looked at: nobody is asked so many questions in a chat. */
const MAX_ARGUMENTS = 100;

/** Parameters never change in place: each is read once. */
const known = new WeakMap<JsonObject, readonly Argument[]>();

export function argumentsOf({ parameters }: AgentTool): readonly Argument[] {
  const found = known.get(parameters) ?? readArguments(parameters).slice(0, MAX_ARGUMENTS);
  known.set(parameters, found);
  return found;
}

function readArguments(parameters: JsonObject): readonly Argument[] {
  const root = resolve(parameters, parameters);
  return properties(root, parameters).flatMap(([name, schema, required]): Argument[] => {
    if (!isObjectSchema(schema) || Object.hasOwn(schema, 'default'))
      return [{ path: [name], schema, required }];
    if (!required) return [];
    const inner = properties(schema, parameters).filter(([, , innerRequired]) => innerRequired);
    if (inner.length === 0) return [{ path: [name], schema: { const: {} }, required }];
    return inner.map(([innerName, innerSchema]) => ({
      path: [name, innerName],
      schema: innerSchema,
      required,
    }));
  });
}

/** A value for each path, put together; own properties only, whatever their names are. */
export function assemble(values: readonly (readonly [Argument, Json])[]): JsonObject {
  const names = [...new Set(values.map(([{ path }]) => path[0]))];
  return Object.fromEntries(
    names.map((name) => {
      const parts = values.filter(([{ path }]) => path[0] === name);
      const [first] = parts;
      if (first![0].path.length === 1) return [name, first![1]];
      return [name, Object.fromEntries(parts.map(([{ path }, value]) => [path[1]!, value]))];
    }),
  );
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
  const type = own(schema, 'type');
  if (typeof type === 'string') return type;
  const named = Array.isArray(type)
    ? type.find((each) => typeof each === 'string' && each !== 'null')
    : undefined;
  return typeof named === 'string' ? named : 'string';
}

const MAX_LABEL = 160;

/** Longer descriptions are no label, with however much white space. */
const MAX_DESCRIPTION_READ = 4 * MAX_LABEL;

/**
 * What the asking sentence calls an argument: its description or its name, and what can be
 * answered.
 */
export function label(argument: Argument, language: Language): string {
  const described = (text(argument.schema, 'description') ?? text(argument.schema, 'title') ?? '')
    .slice(0, MAX_DESCRIPTION_READ)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.:\s]+$/, '');
  const name =
    described !== '' && described.length <= MAX_LABEL
      ? described
      : readableName(nameOf(argument)).slice(0, MAX_LABEL);
  const hint = answerHint(argument.schema, language);
  return hint === null || name.includes('(') ? name : `${name} (${hint})`;
}

const EXAMPLES: Readonly<Record<string, string>> = {
  date: '2026-12-31',
  time: '15:30',
  'date-time': '2026-12-31 15:30',
};

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
  const format = text(schema, 'format');
  return format !== null && Object.hasOwn(EXAMPLES, format) ? EXAMPLES[format]! : null;
}

const isObjectSchema = (schema: JsonObject) =>
  typeOf(schema) === 'object' ||
  (own(schema, 'type') === undefined && isJsonObject(own(schema, 'properties')));

function properties(
  schema: JsonObject,
  root: JsonObject,
): readonly (readonly [name: string, schema: JsonObject, required: boolean])[] {
  const declared = own(schema, 'properties');
  const required = new Set(list(schema, 'required')?.filter((name) => typeof name === 'string'));
  const known = isJsonObject(declared)
    ? Object.entries(declared).map(
        ([name, each]) => [name, resolve(each, root), required.has(name)] as const,
      )
    : [];
  const undeclared = [...required].filter(
    (name) => !isJsonObject(declared) || !Object.hasOwn(declared, name),
  );
  return [...known, ...undeclared.map((name) => [name, {}, true] as const)];
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
