import { AppError } from '../../domain/errorCatalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../../domain/json.ts';
import type { Tool } from '../../domain/tool.ts';
import type { FormValues, Problems } from '../forms.ts';
import { rowsFromSchema, type ParameterRow } from './parameterRows.ts';
import { FormTextError, jsonObjectFrom, linesFrom, prettyJson } from './textLines.ts';

/** The arguments of a test call: a form made from the tool's parameters, or JSON. */

/** The parameters as fields; null when they only fit JSON. */
export const argumentRows = ({
  parameters,
}: Pick<Tool, 'parameters'>): readonly ParameterRow[] | null =>
  rowsFromSchema(parameters)?.rows ?? null;

export const fieldOf = ({ name }: Pick<ParameterRow, 'name'>): string => `a_${name}`;

/** The form's values for these arguments. @param asJson the member wants to write JSON */
export function argumentValues(
  tool: Pick<Tool, 'parameters'>,
  args: JsonObject,
  asJson: boolean,
): FormValues {
  const rows = argumentRows(tool);
  if (rows === null || asJson || !fits(rows, args))
    return { arguments_as: 'json', arguments: prettyJson(args) };
  return {
    arguments_as: 'fields',
    ...Object.fromEntries(rows.map((row) => [fieldOf(row), textOf(args[row.name])])),
  };
}

/** Whether fields can say these arguments: each is known, and text or a list of texts. */
const fits = (rows: readonly ParameterRow[], args: JsonObject): boolean =>
  Object.entries(args).every(([name, value]) => {
    const row = rows.find((each) => each.name === name);
    if (!row) return false;
    return row.type === 'list'
      ? Array.isArray(value) && value.every((item) => typeof item === 'string')
      : !isJsonObject(value) && !Array.isArray(value);
  });

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null
    ? ''
    : Array.isArray(value)
      ? value.join('\n')
      : String(value);

/** @returns the arguments, or what is wrong by field */
export function argumentsFrom(
  tool: Tool,
  values: FormValues,
): { args: JsonObject; problems: Problems } {
  const rows = argumentRows(tool);
  if (rows !== null && values.arguments_as !== 'json')
    return {
      args: Object.fromEntries(rows.flatMap((row) => argumentOf(row, values[fieldOf(row)] ?? ''))),
      problems: {},
    };
  try {
    return { args: jsonObjectFrom(values.arguments ?? '') ?? {}, problems: {} };
  } catch (error) {
    if (error instanceof FormTextError) return { args: {}, problems: { arguments: error.message } };
    throw error;
  }
}

/** An empty field gives no argument. A text that does not fit its type is left for the schema to refuse. */
function argumentOf(
  { name, type }: ParameterRow,
  text: string,
): readonly (readonly [string, Json])[] {
  if (text.trim() === '') return [];
  switch (type) {
    case 'integer':
    case 'number':
      return [[name, Number.isNaN(Number(text)) ? text : Number(text)]];
    case 'boolean':
      return [[name, text === 'true' ? true : text === 'false' ? false : text]];
    case 'list':
      return [[name, linesFrom(text)]];
    default:
      return [[name, text]];
  }
}

/** The operation's error as the problem of a field. @throws the error when it is about something else */
export function argumentProblems(error: unknown, tool: Tool, values: FormValues): Problems {
  if (!(error instanceof AppError) || error.details.param !== 'arguments') throw error;
  const rows = values.arguments_as === 'json' ? [] : (argumentRows(tool) ?? []);
  const row = rows
    .filter(({ name }) => new RegExp(`^arguments\\.${name}[ .]`).test(error.message))
    .at(-1);
  if (!row) return { arguments: error.message };
  return { [fieldOf(row)]: error.message.replace(/^arguments\.(\S+)/, '“$1”') };
}
