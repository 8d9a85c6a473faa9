import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import { ownField, type Json, type JsonObject } from '../../platform/json.ts';
import type { Tool } from '../tool.ts';
import {
  field,
  fieldProblem,
  type FormState,
  type FormValues,
  type Problems,
  select,
  textArea,
} from '../../platform/html/forms.ts';
import { optionsOf, type ParameterRow, rowsFromSchema } from './parameterRows.ts';
import { FormTextError, jsonObjectFrom, linesFrom, prettyJson } from './textLines.ts';
import type { SignedIn } from '../../team/index.ts';
import { csrfField } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';

/** The arguments of a test call: a form made from the tool's parameters, or JSON. */

/** The parameters as fields; null when they only fit JSON. */
const argumentRows = ({ parameters }: Pick<Tool, 'parameters'>): readonly ParameterRow[] | null =>
  rowsFromSchema(parameters)?.rows ?? null;

const fieldOf = ({ name }: Pick<ParameterRow, 'name'>): string => `a_${name}`;

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
    ...Object.fromEntries(rows.map((row) => [fieldOf(row), textOf(ownField(args, row.name))])),
  };
}

/** Whether fields can hold these arguments: each has a row that gives it back unchanged. */
const fits = (rows: readonly ParameterRow[], args: JsonObject): boolean =>
  Object.entries(args).every(([name, value]) => {
    const row = rows.find((each) => each.name === name);
    if (row === undefined) return false;
    const text = textOf(value);
    const isOneLine = row.type === 'list' || !/[\r\n]/.test(text);
    return isOneLine && isDeepStrictEqual(argumentOf(row, text), [[name, value]]);
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
    case 'date':
    case 'time':
    case 'email':
      return [[name, text.trim()]];
    default:
      return [[name, text]];
  }
}

/** The operation's error as the problem of a field. @throws the error when it is about something else */
export function argumentProblems(error: unknown, tool: Tool, values: FormValues): Problems {
  if (!(error instanceof AppError) || error.details.param !== 'arguments') throw error;
  const rows = values.arguments_as === 'json' ? [] : (argumentRows(tool) ?? []);
  const row = rows.find(({ name }) => new RegExp(`^arguments\\.${name}[ .]`).test(error.message));
  if (!row) return { arguments: error.message };
  return { [fieldOf(row)]: error.message.replace(/^arguments\.(\S+)/, '“$1”') };
}

/** Runs a test call with the arguments that are entered here. */
export function testCallForm(signedIn: SignedIn, tool: Tool, form: FormState): View {
  const rows = form.values.arguments_as === 'json' ? null : argumentRows(tool);
  return html`
    <section id="test" aria-labelledby="test-title">
      <h2 id="test-title">Test call</h2>
      <p class="muted">
        Makes one real call, as the agent would, in the conversation <code>conv_test</code>.
      </p>
      <form
        class="test-call"
        method="post"
        action=${`/tools/${tool.id}/test#tool-call`}
        hx-swap="innerHTML show:#test:top"
        hx-disabled-elt="find button[type=submit]"
      >
        ${csrfField(signedIn)}
        <input type="hidden" name="arguments_as" value=${rows === null ? 'json' : 'fields'} />
        ${rows === null ? jsonField(form) : argumentFields(rows, form)}
        <div class="row">
          <button type="submit">Run test call</button>
          ${otherWay(tool, rows !== null)}
        </div>
      </form>
    </section>
  `;
}

const jsonField = (form: FormState): View =>
  textArea({
    name: 'arguments',
    label: 'Arguments as JSON',
    form,
    attributes: { rows: 6, class: 'code', spellcheck: 'false' },
  });

const argumentFields = (rows: readonly ParameterRow[], form: FormState): View => html`
  ${fieldProblem('arguments', form)}
  ${
    rows.length === 0
      ? html`<p>This tool takes no arguments.</p>`
      : rows.map((row) => argumentField(row, form))
  }
`;

const otherWay = (tool: Tool, asFields: boolean): View => {
  if (asFields) return html`<a href=${`/tools/${tool.id}?as=json#test`}>Edit as JSON</a>`;
  return argumentRows(tool) === null
    ? null
    : html`<a href=${`/tools/${tool.id}#test`}>Edit as fields</a>`;
};

const INPUTS: Partial<Record<ParameterRow['type'], Readonly<Record<string, unknown>>>> = {
  integer: { type: 'number', step: 1 },
  number: { type: 'number', step: 'any' },
  date: { type: 'date' },
  time: { placeholder: '2026-11-21T10:00:00Z' },
  email: { type: 'email' },
};

function argumentField(row: ParameterRow, form: FormState): View {
  const label = row.required ? row.name : `${row.name} (optional)`;
  const shared = { name: fieldOf(row), label, form, help: row.description };
  const choices = choicesOf(row);
  if (choices.length > 0) return select({ ...shared, options: [['', '–'], ...choices] });
  if (row.type === 'list')
    return textArea({ ...shared, attributes: { rows: 3, placeholder: 'One per line' } });
  return field({ ...shared, attributes: { autocomplete: 'off', ...INPUTS[row.type] } });
}

const choicesOf = (row: ParameterRow): readonly (readonly [string, string])[] =>
  row.type === 'boolean'
    ? [
        ['true', 'Yes'],
        ['false', 'No'],
      ]
    : optionsOf(row).map((option) => [String(option), String(option)]);
