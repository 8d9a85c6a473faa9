import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import { field, textArea, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { parametersFrom, secretNumbers } from './definitionForm.ts';
import { choice, problemNote } from './inputs.ts';
import { formButton } from './parameterFields.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(
  (method) => [method, method] as const,
);
const CODE = { spellcheck: 'false', class: 'code', autocapitalize: 'off' };

/** How an HTTP tool calls an API in that API's own shape. */
export const requestSection = (
  values: FormValues,
  problems: Problems,
  action: string,
): View => html`
  <section aria-labelledby="request-title">
    <h2 id="request-title">Request</h2>
    ${problemNote('template', problems)}
    ${placeholders(values)}
    <div class="method-url">
      <div>${choice({ name: 'method', label: 'Method', options: METHODS, values, problems })}</div>
      <div>${field({ name: 'url', label: 'Address', values, problems, attributes: { ...CODE, placeholder: 'https://api.example.com/orders/{{args.order_number}}' } })}</div>
    </div>
    ${textArea({ name: 'query', label: 'Query', values, problems, help: 'One name=value a line, not encoded.', attributes: { ...CODE, rows: 2, placeholder: 'limit=10' } })}
    ${textArea({ name: 'headers', label: 'Headers', values, problems, help: 'One Name: value a line.', attributes: { ...CODE, rows: 3, placeholder: 'Authorization: Bearer {{secrets.API_TOKEN}}' } })}
    ${textArea({ name: 'body', label: 'Body', values, problems, help: 'JSON, not with GET. A text that is exactly one placeholder keeps the argument’s type: "{{args.count}}" becomes 3.', attributes: { ...CODE, rows: 5, placeholder: '{"order": "{{args.order_number}}"}' } })}
    ${textArea({ name: 'response_fields', label: 'Fields of the answer', values, problems, help: 'What the agent is shown, one path a line, like items.name. Empty: everything.', attributes: { ...CODE, rows: 2, placeholder: 'status' } })}
    ${secretsPart(values, problems, action)}
  </section>
`;

/** What can stand in the texts, listed from what the form holds now. */
const placeholders = (values: FormValues): View => html`
  <details id="placeholders" open>
    <summary>Placeholders</summary>
    <ul>
      ${argumentPaths(parametersFrom(values)).map((path) => html`<li><code>{{args.${path}}}</code> the argument ${path}</li>`)}
      ${argumentPaths(parametersFrom(values)).length === 0 ? html`<li><code>{{args.NAME}}</code> an argument, by its name among the parameters</li>` : null}
      <li><code>{{conversation.id}}</code> the conversation; conv_test in a test call</li>
      <li><code>{{call.id}}</code> this call, the same at each attempt: good for an idempotency header</li>
      ${secretNames(values).map((name) => html`<li><code>{{secrets.${name}}}</code> the secret ${name}, in headers only</li>`)}
      ${secretNames(values).length === 0 ? html`<li><code>{{secrets.NAME}}</code> a secret from below, in headers only</li>` : null}
    </ul>
    <p class="muted">They stand in path, query, headers and body, never in the host. Without a value an optional query parameter, header or field is left out.</p>
  </details>
`;

const MAX_PATHS = 50;
const DEEPEST = 3;

/** `address.city`: the properties of a schema, and those inside of objects. */
function argumentPaths(schema: JsonObject, depth = 1): readonly string[] {
  const { properties } = schema;
  if (!isJsonObject(properties) || depth > DEEPEST) return [];
  const paths = Object.entries(properties).flatMap(([name, inner]) => [
    name,
    ...(isJsonObject(inner)
      ? argumentPaths(inner, depth + 1).map((path) => `${name}.${path}`)
      : []),
  ]);
  return paths.filter((path) => /^[^\s{}]+$/.test(path)).slice(0, MAX_PATHS);
}

const secretNames = (values: FormValues): readonly string[] =>
  secretNumbers(values)
    .map((number) => (values[`s${number}_name`] ?? '').trim())
    .filter((name) => name !== '');

const SWAP_SECRETS = {
  'hx-target': '#secret-rows',
  'hx-select': '#secret-rows > :last-child',
  'hx-swap': 'beforeend show:none',
};

/** Names are shown, values never: neither stored ones nor those that were typed a moment ago. */
const secretsPart = (values: FormValues, problems: Problems, action: string): View => html`
  <fieldset>
    <legend>Secrets</legend>
    <p class="muted">For headers. Values are stored encrypted and never shown again, not even when this form comes back with a problem. To change a stored one, enter its new value. They stay with the address they were entered for: if it moves to another scheme, host or port, enter those that the request uses again; the others are removed.</p>
    ${problemNote('secrets', problems)}
    <div id="secret-rows">${secretNumbers(values).map((number) => secretRow(number, values, problems))}</div>
    ${formButton({ value: 'add-secret', label: 'Add a secret', swap: SWAP_SECRETS }, action)}
  </fieldset>
`;

function secretRow(number: number, values: FormValues, problems: Problems): View {
  const [name, value, stored] = [`s${number}_name`, `s${number}_value`, `s${number}_stored`];
  const isStored = values[stored] !== undefined;
  return html`
    <div class="secret">
      ${isStored ? html`<input type="hidden" name=${stored} value="on" />` : null}
      <div>${field({ name, label: `Name of secret ${number + 1}`, values, problems, attributes: { ...CODE, autocomplete: 'off', maxlength: 64, readonly: isStored, placeholder: 'API_TOKEN' } })}</div>
      <div>${field({ name: value, label: `${isStored ? 'New value' : 'Value'} of secret ${number + 1}`, problems, attributes: { type: 'password', autocomplete: 'new-password', maxlength: 4096, placeholder: isStored ? 'Stored; empty keeps it' : '' } })}</div>
    </div>
  `;
}
