import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { Tool } from '../../domain/tool.ts';
import { field, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField } from '../layout.ts';
import { argumentRows, fieldOf } from './argumentsForm.ts';
import { choice, problemNote } from './inputs.ts';
import type { ParameterRow } from './parameterRows.ts';

/** Runs a test call with the arguments that are entered here. */
export function testCallForm(
  signedIn: SignedIn,
  tool: Tool,
  values: FormValues,
  problems: Problems,
): View {
  const rows = values.arguments_as === 'json' ? null : argumentRows(tool);
  return html`
    <section id="test" aria-labelledby="test-title">
      <h2 id="test-title">Test call</h2>
      <p class="muted">Makes one real call, as the agent would, with the conversation <code>conv_test</code>.</p>
      <form class="test-call" method="post" action=${`/tools/${tool.id}/test#tool-call`} hx-swap="innerHTML show:#test:top" hx-disabled-elt="find button[type=submit]">
        ${csrfField(signedIn)}
        <input type="hidden" name="arguments_as" value=${rows === null ? 'json' : 'fields'} />
        ${
          rows === null
            ? textArea({
                name: 'arguments',
                label: 'Arguments as JSON',
                values,
                problems,
                attributes: { rows: 6, class: 'code', spellcheck: 'false' },
              })
            : html`${problemNote('arguments', problems)}${rows.length === 0 ? html`<p>It takes no arguments.</p>` : rows.map((row) => argumentField(row, values, problems))}`
        }
        <div class="row">
          <button type="submit">Run a test call</button>
          ${otherWay(tool, rows !== null)}
        </div>
      </form>
    </section>
  `;
}

const otherWay = (tool: Tool, asFields: boolean): View => {
  if (asFields)
    return html`<a href=${`/tools/${tool.id}?as=json#test`}>Write the arguments as JSON</a>`;
  return argumentRows(tool) === null
    ? null
    : html`<a href=${`/tools/${tool.id}#test`}>Fill in fields</a>`;
};

const INPUTS: Partial<Record<ParameterRow['type'], Readonly<Record<string, unknown>>>> = {
  integer: { type: 'number', step: 1 },
  number: { type: 'number', step: 'any' },
  date: { type: 'date' },
  time: { placeholder: '2026-11-21T10:00:00Z' },
  email: { type: 'email' },
};

function argumentField(row: ParameterRow, values: FormValues, problems: Problems): View {
  const name = fieldOf(row);
  const label = row.required ? row.name : `${row.name} (optional)`;
  const options = row.options
    .split(',')
    .map((option) => option.trim())
    .filter(Boolean);
  if (row.type === 'boolean')
    return choice({
      name,
      label,
      values,
      problems,
      options: [
        ['', '–'],
        ['true', 'Yes'],
        ['false', 'No'],
      ],
    });
  if (options.length > 0)
    return choice({
      name,
      label,
      values,
      problems,
      options: [['', '–'], ...options.map((option) => [option, option] as const)],
    });
  const shared = { name, label, values, problems, help: row.description || undefined };
  if (row.type === 'list')
    return textArea({ ...shared, attributes: { rows: 3, placeholder: 'One a line' } });
  return field({ ...shared, attributes: { autocomplete: 'off', ...INPUTS[row.type] } });
}
