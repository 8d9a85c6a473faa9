import {
  checkbox,
  field,
  fieldProblem,
  select,
  textArea,
  type FormState,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { PARAMETER_TYPES, rowsFrom, type ParameterRow } from './parameterRows.ts';

const TYPES = Object.entries(PARAMETER_TYPES).map(([name, { label }]) => [name, label] as const);

/** A button that changes the form without saving. With scripts, only a part of the page reloads. */
export const formButton = (
  {
    value,
    label,
    ariaLabel,
    swap,
  }: { value: string; label: string; ariaLabel?: string; swap: Readonly<Record<string, string>> },
  action: string,
): View => html`
  <button
    class="small outline secondary"
    name="do"
    value=${value}
    formnovalidate
    aria-label=${ariaLabel ?? null}
    hx-post=${action}
    ...${swap}
  >
    ${label}
  </button>
`;

const SWAP_PARAMETERS = {
  'hx-target': '#parameters',
  'hx-select': '#parameters',
  'hx-swap': 'outerHTML show:none',
  'hx-select-oob': '#placeholders',
};

/** The tool's parameters, as fields or as a JSON Schema. */
export const parametersSection = (
  form: FormState,
  { action, added }: { action: string; added: boolean },
): View => html`
  <section id="parameters" aria-labelledby="parameters-title">
    <h2 id="parameters-title">Parameters</h2>
    <p class="muted">What the agent needs to know before it calls the tool.</p>
    <input
      type="hidden"
      name="parameters_as"
      value=${form.values.parameters_as === 'json' ? 'json' : 'fields'}
    />
    ${form.values.parameters_as === 'json' ? asJson(form, action) : asFields(form, action, added)}
  </section>
`;

const asJson = (form: FormState, action: string): View => html`
  ${textArea({
    name: 'parameters',
    label: 'JSON Schema',
    form,
    help: 'JSON Schema 2020-12 with an object at its root.',
    attributes: { rows: 14, spellcheck: 'false', class: 'code' },
  })}
  ${formButton({ value: 'to-fields', label: 'Edit as fields', swap: SWAP_PARAMETERS }, action)}
`;

function asFields(form: FormState, action: string, added: boolean): View {
  const rows = rowsFrom(form.values);
  return html`
    ${fieldProblem('parameters', form)}
    ${rows.length === 0 ? html`<p>No parameters. The tool is called without arguments.</p>` : null}
    ${rows.map((row, number) =>
      parameterRow(row, number, { form, action, focus: added && number === rows.length - 1 }),
    )}
    <p class="row">
      ${formButton(
        { value: 'add-parameter', label: 'Add parameter', swap: SWAP_PARAMETERS },
        action,
      )}
      ${formButton(
        { value: 'to-json', label: 'Edit as JSON Schema', swap: SWAP_PARAMETERS },
        action,
      )}
    </p>
    ${checkbox({ name: 'closed', label: 'Refuse arguments that are not listed here', form })}
  `;
}

function parameterRow(
  row: ParameterRow,
  number: number,
  { form, action, focus }: { form: FormState; action: string; focus: boolean },
): View {
  const fieldName = (part: string) => `p${number}_${part}`;
  return html`
    <fieldset class="parameter">
      <legend>Parameter ${number + 1}</legend>
      <div>
        ${field({
          name: fieldName('name'),
          label: 'Name',
          form,
          attributes: {
            maxlength: 64,
            autofocus: focus,
            autocomplete: 'off',
            placeholder: 'order_number',
            spellcheck: 'false',
          },
        })}
      </div>
      <div>${select({ name: fieldName('type'), label: 'Type', options: TYPES, form })}</div>
      <div class="wide">
        ${field({
          name: fieldName('description'),
          label: 'Description',
          form,
          attributes: {
            autocomplete: 'off',
            placeholder: 'In words that the agent can use to ask for it',
          },
        })}
      </div>
      <div class="wide">
        ${field({
          name: fieldName('options'),
          label: 'Options',
          form,
          attributes: {
            autocomplete: 'off',
            placeholder: 'Allowed values, separated by commas. Empty for any',
          },
        })}
      </div>
      <div class="end">
        ${checkbox({ name: fieldName('required'), label: 'Required', form })}
        ${formButton(
          {
            value: `remove-parameter:${number}`,
            label: 'Remove',
            ariaLabel: `Remove the parameter ${row.name || number + 1}`,
            swap: SWAP_PARAMETERS,
          },
          action,
        )}
      </div>
    </fieldset>
  `;
}
