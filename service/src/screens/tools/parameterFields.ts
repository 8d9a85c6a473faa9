import { field, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { checkbox, choice, problemNote } from './inputs.ts';
import { PARAMETER_TYPES, rowsFrom, type ParameterRow } from './parameterRows.ts';

const TYPES = Object.entries(PARAMETER_TYPES).map(([name, { label }]) => [name, label] as const);

/**
 * A button that changes the form instead of saving it. Without a script the whole page is made
 * again, with it a part of the form.
 */
export const formButton = (
  {
    value,
    label,
    name,
    swap,
  }: { value: string; label: string; name?: string; swap: Readonly<Record<string, string>> },
  action: string,
): View => html`
  <button class="small outline secondary" name="do" value=${value} formnovalidate aria-label=${name ?? null} hx-post=${action} ...${swap}>${label}</button>
`;

const SWAP_PARAMETERS = {
  'hx-target': '#parameters',
  'hx-select': '#parameters',
  'hx-swap': 'outerHTML show:none',
  'hx-select-oob': '#placeholders',
};

/** What the agent has to give the tool: as rows, or as a JSON Schema. */
export const parametersSection = (
  values: FormValues,
  problems: Problems,
  { action, added }: { action: string; added: boolean },
): View => html`
  <section id="parameters" aria-labelledby="parameters-title">
    <h2 id="parameters-title">Parameters</h2>
    <p class="muted">What the agent has to find out before it calls the tool.</p>
    <input type="hidden" name="parameters_as" value=${values.parameters_as === 'json' ? 'json' : 'fields'} />
    ${values.parameters_as === 'json' ? asJson(values, problems, action) : asFields(values, problems, action, added)}
  </section>
`;

const asJson = (values: FormValues, problems: Problems, action: string): View => html`
  ${textArea({ name: 'parameters', label: 'JSON Schema', values, problems, help: 'JSON Schema 2020-12, an object at its root.', attributes: { rows: 14, spellcheck: 'false', class: 'code' } })}
  ${formButton({ value: 'to-fields', label: 'Edit as fields', swap: SWAP_PARAMETERS }, action)}
`;

function asFields(values: FormValues, problems: Problems, action: string, added: boolean): View {
  const rows = rowsFrom(values);
  return html`
    ${problemNote('parameters', problems)}
    ${rows.length === 0 ? html`<p>None: the tool is called without arguments.</p>` : null}
    ${rows.map((row, number) => parameterRow(row, number, { values, problems, action, focus: added && number === rows.length - 1 }))}
    <p class="row">
      ${formButton({ value: 'add-parameter', label: 'Add a parameter', swap: SWAP_PARAMETERS }, action)}
      ${formButton({ value: 'to-json', label: 'Write as JSON Schema', swap: SWAP_PARAMETERS }, action)}
    </p>
    ${checkbox({ name: 'closed', label: 'Refuse arguments that are not listed here', values })}
  `;
}

function parameterRow(
  row: ParameterRow,
  number: number,
  {
    values,
    problems,
    action,
    focus,
  }: { values: FormValues; problems: Problems; action: string; focus: boolean },
): View {
  const of = (part: string) => `p${number}_${part}`;
  return html`
    <fieldset class="parameter">
      <legend>Parameter ${number + 1}</legend>
      <div>${field({ name: of('name'), label: 'Name', values, problems, attributes: { maxlength: 64, autofocus: focus, autocomplete: 'off', placeholder: 'order_number', spellcheck: 'false' } })}</div>
      <div>${choice({ name: of('type'), label: 'Type', options: TYPES, values, problems })}</div>
      <div class="wide">${field({ name: of('description'), label: 'Description', values, problems, attributes: { autocomplete: 'off', placeholder: 'What it is, in words the agent can ask for' } })}</div>
      <div class="wide">${field({ name: of('options'), label: 'Options', values, problems, attributes: { autocomplete: 'off', placeholder: 'Only these, separated by commas; empty for any' } })}</div>
      <div class="end">
        ${checkbox({ name: of('required'), label: 'Required', values })}
        ${formButton({ value: `remove-parameter:${number}`, label: 'Remove', name: `Remove the parameter ${row.name || number + 1}`, swap: SWAP_PARAMETERS }, action)}
      </div>
    </fieldset>
  `;
}
