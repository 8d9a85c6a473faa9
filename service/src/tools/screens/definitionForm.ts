import { definedOnly, type JsonObject } from '../../platform/json.ts';
import {
  DEFAULT_TOOL_TIMEOUT_SECONDS,
  SECRET_NAME_PATTERN,
  type Tool,
  type ToolKind,
} from '../tool.ts';
import type { FormValues, Problems } from '../../platform/html/forms.ts';
import {
  EMPTY_ROW,
  fitsFields,
  type ParameterRow,
  rowsFrom,
  rowsFromSchema,
  rowValues,
  schemaFromRows,
} from './parameterRows.ts';
import {
  FormTextError,
  jsonFrom,
  jsonObjectFrom,
  linesFrom,
  pairsFrom,
  pairsText,
  prettyJson,
} from './textLines.ts';

/** Turns a tool's definition into the values of a form, and a form into a body for the API. */

const kindOf = (values: FormValues): ToolKind => (values.kind === 'HTTP' ? 'HTTP' : 'Webhook');

/** The form of a new tool. */
export const newToolValues: FormValues = {
  kind: 'Webhook',
  timeout: String(DEFAULT_TOOL_TIMEOUT_SECONDS),
  method: 'GET',
  parameters_as: 'fields',
  ...rowValues([EMPTY_ROW]),
  s0_name: '',
};

/** The form of a stored tool, without the values of its secrets. */
export function toolValues(tool: Tool): FormValues {
  const { requestTemplate: template } = tool;
  return {
    name: tool.name,
    description: tool.description,
    kind: tool.kind,
    endpoint: tool.endpoint ?? '',
    timeout: String(tool.timeoutSeconds),
    ...(tool.askBeforeRunning ? { ask: 'on' } : {}),
    ...(tool.readOnly ? { read_only: 'on' } : {}),
    example_phrases: (tool.examplePhrases ?? []).join('\n'),
    method: template?.method ?? 'GET',
    url: template?.url ?? '',
    query: pairsText(template?.query ?? {}, '='),
    headers: pairsText(template?.headers ?? {}, ':'),
    body: prettyJson(template?.body),
    response_fields: (template?.response_fields ?? []).join('\n'),
    ...storedSecretValues(Object.keys(tool.sealedTemplateSecrets)),
    ...parameterValues(tool.parameters),
  };
}

const storedSecretValues = (names: readonly string[]): FormValues =>
  Object.fromEntries(
    names.flatMap((name, number) => [
      [`s${number}_name`, name],
      [`s${number}_stored`, 'on'],
    ]),
  );

/** Parameters as fields where they fit, else as JSON Schema. */
function parameterValues(schema: JsonObject): FormValues {
  const found = rowsFromSchema(schema);
  if (!found?.rows.every(fitsFields))
    return { parameters_as: 'json', parameters: prettyJson(schema) };
  return {
    parameters_as: 'fields',
    ...rowValues(found.rows),
    ...(found.closed ? { closed: 'on' } : {}),
  };
}

/** What a form says, as a body that the API's schemas can check. */
export interface FormDefinition {
  readonly body: Readonly<Record<string, unknown>>;
  /** Why a field cannot be read, by its name. */
  readonly problems: Problems;
}

/** Reads the whole form. */
export function definitionFrom(values: FormValues): FormDefinition {
  const problems: Record<string, string> = {};
  const read = <T>(name: string, from: (text: string) => T): T | undefined =>
    readField(values, problems, name, from);
  const kind = kindOf(values);
  const body = {
    name: (values.name ?? '').trim(),
    description: values.description ?? '',
    kind,
    parameters: parametersFrom(values, problems),
    ...(kind === 'HTTP'
      ? { request_template: templateFrom(values, read), secrets: secretsFrom(values, problems) }
      : { endpoint: endpointFrom(values, problems) }),
    timeout: Number(values.timeout ?? ''),
    ask_before_running: values.ask === 'on',
    read_only: values.read_only === 'on',
    example_phrases: linesFrom(values.example_phrases ?? ''),
  };
  return { body, problems };
}

function endpointFrom(values: FormValues, problems: Record<string, string>): string {
  const endpoint = (values.endpoint ?? '').trim();
  if (endpoint === '') problems.endpoint = 'Enter the https:// URL that is called.';
  return endpoint;
}

function readField<T>(
  values: FormValues,
  problems: Record<string, string>,
  name: string,
  from: (text: string) => T,
): T | undefined {
  try {
    return from(values[name] ?? '');
  } catch (error) {
    if (!(error instanceof FormTextError)) throw error;
    problems[name] = error.message;
    return undefined;
  }
}

/** The template as it would be stored, so that an unchanged one equals the stored one. */
function templateFrom(
  values: FormValues,
  read: <T>(name: string, from: (text: string) => T) => T | undefined,
) {
  const fields = linesFrom(values.response_fields ?? '');
  return definedOnly({
    method: values.method ?? '',
    url: (values.url ?? '').trim(),
    query: read('query', (text) => pairsFrom(text, '=')),
    headers: read('headers', (text) => pairsFrom(text, ':')),
    body: read('body', jsonFrom),
    response_fields: fields.length === 0 ? undefined : fields,
  });
}

/** The schema so far. Adds what is wrong to `problems`. */
export function parametersFrom(
  values: FormValues,
  problems: Record<string, string> = {},
): JsonObject {
  if (values.parameters_as === 'json')
    return readField(values, problems, 'parameters', jsonObjectFrom) ?? NO_PARAMETERS;
  const { schema, problems: ofRows } = schemaFromRows(rowsFrom(values), values.closed === 'on');
  Object.assign(problems, ofRows);
  return schema;
}

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

/** The numbers of the secrets in the form. */
export const secretNumbers = (values: FormValues): readonly number[] =>
  Object.keys(values)
    .map((name) => /^s(\d{1,2})_name$/.exec(name)?.[1])
    .filter((number) => number !== undefined)
    .map(Number)
    .sort((a, b) => a - b);

/** New values of secrets. An empty value keeps the stored one. */
function secretsFrom(values: FormValues, problems: Record<string, string>): Record<string, string> {
  const secrets = new Map<string, string>();
  for (const number of secretNumbers(values)) {
    const name = (values[`s${number}_name`] ?? '').trim();
    const value = values[`s${number}_value`] ?? '';
    if (value !== '' && name === '') problems[`s${number}_name`] = 'Give the secret a name.';
    if (name !== '' && !SECRET_NAME_PATTERN.test(name))
      problems[`s${number}_name`] =
        'Use letters, digits and _, starting with a letter, at most 64 characters.';
    if (value === '' && name !== '' && values[`s${number}_stored`] === undefined)
      problems[`s${number}_value`] = 'Enter a value.';
    if (value === '' || name === '') continue;
    if (secrets.has(name)) problems[`s${number}_name`] = `${name} is listed twice. Keep one.`;
    secrets.set(name, value);
  }
  return Object.fromEntries(secrets);
}

/** The values to show again: without those of secrets, and with the parameters numbered from 0. */
export function shownValues(values: FormValues): FormValues {
  const kept = Object.entries(values).filter(
    ([name]) => !/^s\d+_value$|^p\d+_|^csrf$|^do$/.test(name),
  );
  return { ...Object.fromEntries(kept), ...rowValues(rowsFrom(values)) };
}

interface ChangedForm {
  readonly values: FormValues;
  readonly problems?: Problems;
  readonly added?: boolean;
}

/** Applies the button that was pressed inside the form; null when it was the one that saves. */
export function changeForm(values: FormValues): ChangedForm | null {
  const [action, number] = (values.do ?? 'save').split(':');
  switch (action) {
    case 'add-parameter':
      return { values: withRows(values, [...rowsFrom(values), EMPTY_ROW]), added: true };
    case 'remove-parameter':
      return {
        values: withRows(
          values,
          rowsFrom(values).filter((_, index) => index !== Number(number)),
        ),
      };
    case 'to-json':
      return toJson(values);
    case 'to-fields':
      return toFields(values);
    case 'add-secret':
      return { values: { ...values, [`s${(secretNumbers(values).at(-1) ?? -1) + 1}_name`]: '' } };
    default:
      return null;
  }
}

const withRows = (values: FormValues, rows: readonly ParameterRow[]): FormValues => ({
  ...withoutParameters(values),
  ...rowValues(rows),
});

const withoutParameters = (values: FormValues): FormValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/^p\d+_|^parameters$/.test(name)));

function toJson(values: FormValues): ChangedForm {
  const problems: Record<string, string> = {};
  const schema = parametersFrom({ ...values, parameters_as: 'fields' }, problems);
  if (Object.keys(problems).length > 0) return { values, problems };
  const { closed: _, ...rest } = withoutParameters(values);
  return { values: { ...rest, parameters_as: 'json', parameters: prettyJson(schema) } };
}

function toFields(values: FormValues): ChangedForm {
  const problems: Record<string, string> = {};
  const schema = parametersFrom({ ...values, parameters_as: 'json' }, problems);
  if (Object.keys(problems).length > 0) return { values, problems };
  const found = parameterValues(schema);
  if (found.parameters_as === 'json')
    return {
      values,
      problems: { parameters: 'This schema does not fit into fields. Keep it as JSON Schema.' },
    };
  return { values: { ...withoutParameters(values), ...found } };
}
