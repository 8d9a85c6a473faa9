import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../platform/json.ts';
import type { FormValues, Problems } from '../../platform/html/forms.ts';

/** A tool's parameters as rows of a form, and as JSON Schema. */

export const PARAMETER_TYPES = {
  text: { label: 'Text', schema: { type: 'string' } },
  integer: { label: 'Whole number', schema: { type: 'integer' } },
  number: { label: 'Number', schema: { type: 'number' } },
  boolean: { label: 'Yes or no', schema: { type: 'boolean' } },
  date: { label: 'Date', schema: { type: 'string', format: 'date' } },
  time: { label: 'Date and time', schema: { type: 'string', format: 'date-time' } },
  email: { label: 'Email address', schema: { type: 'string', format: 'email' } },
  list: { label: 'List of texts', schema: { type: 'array', items: { type: 'string' } } },
} as const satisfies Record<string, { label: string; schema: JsonObject }>;
type ParameterType = keyof typeof PARAMETER_TYPES;

const isType = (text: string): text is ParameterType => Object.hasOwn(PARAMETER_TYPES, text);
const MAY_HAVE_OPTIONS: ReadonlySet<ParameterType> = new Set(['text', 'integer', 'number']);

export interface ParameterRow {
  readonly name: string;
  readonly type: ParameterType;
  readonly description: string;
  readonly required: boolean;
  /** The allowed values, separated by commas; empty for any. */
  readonly options: string;
}

export const EMPTY_ROW: ParameterRow = {
  name: '',
  type: 'text',
  description: '',
  required: true,
  options: '',
};

const MAX_ROWS = 100;
/** A name that models and placeholders can both use. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The rows of a posted form, in order. */
export function rowsFrom(values: FormValues): readonly ParameterRow[] {
  const numbers = Object.keys(values)
    .map((name) => /^p(\d{1,4})_type$/.exec(name)?.[1])
    .filter((number) => number !== undefined);
  return numbers
    .map(Number)
    .sort((a, b) => a - b)
    .slice(0, MAX_ROWS)
    .map((number) => rowAt(values, number));
}

function rowAt(values: FormValues, number: number): ParameterRow {
  const valueOf = (part: string) => values[`p${number}_${part}`] ?? '';
  const type = valueOf('type');
  return {
    name: valueOf('name').trim(),
    type: isType(type) ? type : 'text',
    description: valueOf('description').trim(),
    required: valueOf('required') === 'on',
    options: valueOf('options').trim(),
  };
}

/** The fields of the form that show these rows, numbered from 0. */
export const rowValues = (rows: readonly ParameterRow[]): FormValues =>
  Object.fromEntries(
    rows.flatMap((row, number) => [
      ...(['name', 'type', 'description', 'options'] as const).map(
        (part) => [`p${number}_${part}`, row[part]] as const,
      ),
      ...(row.required ? [[`p${number}_required`, 'on'] as const] : []),
    ]),
  );

/** Whether a form gives a row back unchanged: a field holds one line, without blanks at its ends. */
export const fitsFields = ({ description, options }: ParameterRow): boolean =>
  [description, options].every((text) => text === text.trim() && !/[\r\n]/.test(text));

const isBlank = ({ name, description, options }: ParameterRow) =>
  name === '' && description === '' && options === '';

/** @param closed whether other arguments are refused */
export function schemaFromRows(
  rows: readonly ParameterRow[],
  closed: boolean,
): { schema: JsonObject; problems: Problems } {
  const problems: Record<string, string> = {};
  const properties = new Map<string, JsonObject>();
  for (const [number, row] of rows.entries()) {
    if (isBlank(row)) continue;
    const nameProblem = problemOfName(row.name, properties);
    if (nameProblem !== null) problems[`p${number}_name`] = nameProblem;
    const optionsProblem = problemOfOptions(row);
    if (optionsProblem !== null) problems[`p${number}_options`] = optionsProblem;
    properties.set(row.name, propertyOf(row));
  }
  const required = rows.filter((row) => row.required && !isBlank(row)).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...(closed ? { additionalProperties: false } : {}),
  };
  return { schema, problems };
}

function problemOfName(name: string, before: ReadonlyMap<string, unknown>): string | null {
  if (name === '') return 'Give the parameter a name, or remove it.';
  if (!NAME.test(name))
    return 'Use letters, digits, _ and -, starting with a letter or _, at most 64 characters.';
  return before.has(name) ? `There is already a parameter named ${name}.` : null;
}

function problemOfOptions(row: ParameterRow): string | null {
  if (row.options === '') return null;
  if (!MAY_HAVE_OPTIONS.has(row.type))
    return 'Only texts and numbers can have options. Leave this empty.';
  const options = optionsOf(row);
  if (row.type === 'number' && !options.every(Number.isFinite))
    return 'The options of a number must be numbers.';
  return row.type === 'integer' && !options.every(Number.isInteger)
    ? 'The options of a whole number must be whole numbers.'
    : null;
}

/** The allowed values of a row; none for any. */
export const optionsOf = ({ type, options }: ParameterRow): readonly (string | number)[] => {
  const texts = options
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '');
  return [...new Set<string | number>(type === 'text' ? texts : texts.map(Number))];
};

function propertyOf(row: ParameterRow): JsonObject {
  const options = optionsOf(row);
  return {
    ...PARAMETER_TYPES[row.type].schema,
    ...(options.length === 0 ? {} : { enum: options }),
    ...(row.description === '' ? {} : { description: row.description }),
  };
}

/** The rows of a schema; null when rows cannot hold all of it. */
export function rowsFromSchema(
  schema: JsonObject,
): { rows: readonly ParameterRow[]; closed: boolean } | null {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (!isJsonObject(properties) || !Array.isArray(required)) return null;
  const rows = Object.entries(properties).map(([name, property]) =>
    rowOf(name, property, required.includes(name)),
  );
  if (rows.length > MAX_ROWS || !rows.every((row) => row !== null)) return null;
  const closed = additionalProperties === false;
  const again = schemaFromRows(rows, closed);
  return Object.keys(again.problems).length === 0 && saysTheSame(again.schema, schema)
    ? { rows, closed }
    : null;
}

/** Whether two schemas are the same, whatever the order of properties and of required names. */
export const saysTheSame = (one: JsonObject, other: JsonObject): boolean =>
  isDeepStrictEqual(sorted(one), sorted(other));

const sorted = (schema: JsonObject): JsonObject => ({
  properties: {},
  ...schema,
  required: Array.isArray(schema.required) ? [...schema.required].sort() : [],
});

function rowOf(name: string, property: Json, required: boolean): ParameterRow | null {
  if (!isJsonObject(property)) return null;
  const { description = '', enum: options = [], ...rest } = property;
  const type = (Object.keys(PARAMETER_TYPES) as ParameterType[]).find((each) =>
    isDeepStrictEqual(rest, PARAMETER_TYPES[each].schema),
  );
  if (type === undefined || typeof description !== 'string' || !Array.isArray(options)) return null;
  return { name, type, description, required, options: options.join(', ') };
}
