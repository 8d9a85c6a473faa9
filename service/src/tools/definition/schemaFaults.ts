import type { ErrorObject } from 'ajv/dist/2020.js';
import { isJsonObject, ownField, type Json } from '../../platform/json.ts';
import { shorten } from '../../platform/shorten.ts';

/** What a validator found, as a sentence that names the first field at fault. */
interface Fault {
  /** `arguments.date` */
  readonly field: string;
  readonly sentence: string;
}

const MAX_FIELD_CHARACTERS = 200;
const MAX_VALUES_LISTED = 20;

/** `/items/0/name` → `arguments.items.0.name`; names come from outside and may be long. */
const fieldOf = (root: string, { instancePath }: ErrorObject) =>
  shorten(
    [
      root,
      ...instancePath
        .split('/')
        .slice(1)
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    ].join('.'),
    MAX_FIELD_CHARACTERS,
  );

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const EXAMPLES: Readonly<Record<string, string>> = {
  date: '2026-11-21',
  time: '10:00:00Z',
  'date-time': '2026-11-21T10:00:00Z',
  email: 'maria@example.com',
  uri: 'https://example.com/path',
  duration: 'P3D',
};

const listed = (values: readonly unknown[]) => {
  const shown = values
    .slice(0, MAX_VALUES_LISTED)
    .map((value) => shorten(JSON.stringify(value), 80));
  return [...shown, ...(values.length > shown.length ? ['…'] : [])].join(', ');
};

/** What follows the field's name, by the keyword that failed. */
const WORDS: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  type: ({ type }) =>
    `must be ${[type as string | string[]]
      .flat()
      .map((name) => TYPES[name] ?? name)
      .join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${listed(allowedValues as unknown[])}`,
  const: ({ allowedValue }) => `must be ${listed([allowedValue])}`,
  format: ({ format }) =>
    `must have the format ${String(format)}${Object.hasOwn(EXAMPLES, String(format)) ? `, like ${EXAMPLES[String(format)]}` : ''}`,
  pattern: ({ pattern }) => `must match the pattern ${shorten(String(pattern), 200)}`,
  propertyNames: ({ propertyName }) =>
    `must not have a field named ${shorten(JSON.stringify(propertyName), 80)}`,
  uniqueItems: () => 'must not hold the same item twice',
  not: () => 'has a value that is not allowed',
  'false schema': () => 'is not allowed; leave it out',
};

const isChoice = ({ keyword }: ErrorObject) => keyword === 'anyOf' || keyword === 'oneOf';

/** The ways to satisfy a choice, from the errors about the same value. */
function choiceWords(errors: readonly ErrorObject[], choice: ErrorObject): string {
  if (choice.params['passingSchemas'] != null)
    return 'fits more than one of the allowed shapes; it must fit exactly one';
  const ways = errors
    .filter(
      (error) =>
        error.instancePath === choice.instancePath &&
        error.propertyName === undefined && // else it is about a name in the value
        !isChoice(error) &&
        error.keyword !== 'if',
    )
    .map(wordsOf);
  return ways.length === 0
    ? 'fits none of the allowed shapes'
    : [...new Set(ways)].slice(0, 5).join(', or ');
}

const wordsOf = (error: ErrorObject): string =>
  WORDS[error.keyword]?.(error.params) ??
  (error.message ?? 'is not valid')
    .replaceAll('NOT', 'not')
    .replace('must be multiple', 'must be a multiple')
    .replace('(s)', 's')
    .replace(/ 1 (character|(?:valid )?item)s$/, ' 1 $1')
    .replace(/ 1 properties$/, ' 1 property');

const named = (root: string, error: ErrorObject, name: unknown, what: string): Fault => {
  const field = shorten(`${fieldOf(root, error)}.${String(name)}`, MAX_FIELD_CHARACTERS);
  return { field, sentence: `${field} ${what}.` };
};

/**
 * Whether an error lies inside a choice. An error inside a value of the right type helps the caller
 * more than a list of the allowed types.
 */
const isInside = (choice: ErrorObject) => (error: ErrorObject) =>
  !isChoice(error) &&
  (error.instancePath.length > choice.instancePath.length ||
    ['required', 'additionalProperties'].includes(error.keyword));

/**
 * The errors of the shape that the value means: the only one whose fixed values it has, such as
 * `"type": "card"`. All errors when no shape or several have such values.
 */
function meantErrors(
  errors: readonly ErrorObject[],
  { schema, schemaPath, data }: ErrorObject,
): readonly ErrorObject[] {
  if (!Array.isArray(schema)) return errors;
  const meant = (schema as Json[]).flatMap((shape, at) =>
    hasFixedValues(shape, data as Json) ? [`${schemaPath}/${at}/`] : [],
  );
  if (meant.length !== 1) return errors;
  const found = errors.filter((error) => error.schemaPath.startsWith(meant[0]!));
  return found.length > 0 ? found : errors;
}

function hasFixedValues(shape: Json, value: Json): boolean {
  const properties = isJsonObject(shape) && ownField(shape, 'properties');
  if (!isJsonObject(properties) || !isJsonObject(value)) return false;
  const fixed = Object.entries(properties).flatMap(([name, property]) =>
    isJsonObject(property) && Object.hasOwn(property, 'const')
      ? [{ name, wanted: property.const }]
      : [],
  );
  return fixed.length > 0 && fixed.every(({ name, wanted }) => ownField(value, name) === wanted);
}

/**
 * @param root the name of the checked value: `arguments` or `parameters`
 * @param errors from ajv, which stops at the first fault; the last error is the outermost. Those of a
 * `verbose` ajv tell which shape of a choice the value means.
 */
export function describeFault(root: string, errors: readonly ErrorObject[]): Fault {
  const error = errors.findLast(({ keyword }) => keyword !== 'if') ?? errors[0];
  if (error === undefined) return { field: root, sentence: `${root} are not valid.` };
  if (error.keyword === 'required')
    return named(root, error, error.params['missingProperty'], 'is missing');
  if (error.keyword === 'dependentRequired')
    return named(
      root,
      error,
      error.params['missingProperty'],
      `is missing; it is needed with ${shorten(String(error.params['property']), 80)}`,
    );
  const unknown = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
  if (unknown !== undefined) return named(root, error, unknown, 'is not known; leave it out');
  const inside =
    isChoice(error) && error.params['passingSchemas'] == null
      ? meantErrors(errors, error).find(isInside(error))
      : undefined;
  if (inside !== undefined) return describeFault(root, [inside]);
  const field = fieldOf(root, error);
  return {
    field,
    sentence: `${field} ${isChoice(error) ? choiceWords(errors, error) : wordsOf(error)}.`,
  };
}
