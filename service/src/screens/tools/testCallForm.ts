import type { SignedIn } from '../../domain/operations/sessions.ts';
import type { Tool } from '../../domain/tool.ts';
import { csrfField } from '../components.ts';
import { field, fieldProblem, select, textArea, type FormState } from '../forms.ts';
import { html, type View } from '../html.ts';
import { argumentRows, fieldOf } from './argumentsForm.ts';
import type { ParameterRow } from './parameterRows.ts';

/** Runs a test call with the arguments that are entered here. */
export function testCallForm(signedIn: SignedIn, tool: Tool, form: FormState): View {
  const rows = form.values.arguments_as === 'json' ? null : argumentRows(tool);
  return html`
    <section id="test" aria-labelledby="test-title">
      <h2 id="test-title">Test call</h2>
      <p class="muted">Makes one real call, as the agent would, in the conversation <code>conv_test</code>.</p>
      <form class="test-call" method="post" action=${`/tools/${tool.id}/test#tool-call`} hx-swap="innerHTML show:#test:top" hx-disabled-elt="find button[type=submit]">
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
  ${rows.length === 0 ? html`<p>This tool takes no arguments.</p>` : rows.map((row) => argumentField(row, form))}
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
  if (choices.length > 0)
    return select({ ...shared, help: null, options: [['', '–'], ...choices] });
  if (row.type === 'list')
    return textArea({ ...shared, attributes: { rows: 3, placeholder: 'One per line' } });
  return field({ ...shared, attributes: { autocomplete: 'off', ...INPUTS[row.type] } });
}

const choicesOf = ({ type, options }: ParameterRow): readonly (readonly [string, string])[] =>
  type === 'boolean'
    ? [
        ['true', 'Yes'],
        ['false', 'No'],
      ]
    : options
        .split(',')
        .map((option) => option.trim())
        .filter(Boolean)
        .map((option) => [option, option]);
