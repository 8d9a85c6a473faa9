import { isJsonObject, type JsonObject } from '../../platform/json.ts';
import {
  field,
  fieldProblem,
  select,
  textArea,
  type FormState,
  type FormValues,
} from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { METHODS } from '../definition/requestTemplate.ts';
import { parametersFrom, secretNumbers } from './definitionForm.ts';
import { formButton } from './parameterFields.ts';

const METHOD_OPTIONS = METHODS.map((method) => [method, method] as const);
const CODE = { spellcheck: 'false', class: 'code', autocapitalize: 'off' };

/** The request of an HTTP tool. */
export const requestSection = (form: FormState, action: string): View => html`
  <section aria-labelledby="request-title">
    <h2 id="request-title">Request</h2>
    ${fieldProblem('template', form)}
    ${placeholders(form.values)}
    <div class="method-url">
      <div>${select({ name: 'method', label: 'Method', options: METHOD_OPTIONS, form })}</div>
      <div>${field({
        name: 'url',
        label: 'URL',
        form,
        attributes: {
          ...CODE,
          placeholder: 'https://api.example.com/orders/{{args.order_number}}',
        },
      })}</div>
    </div>
    ${textArea({
      name: 'query',
      label: 'Query',
      form,
      help: 'One name=value per line, not encoded.',
      attributes: { ...CODE, rows: 2, placeholder: 'limit=10' },
    })}
    ${textArea({
      name: 'headers',
      label: 'Headers',
      form,
      help: 'One Name: value per line.',
      attributes: { ...CODE, rows: 3, placeholder: 'Authorization: Bearer {{secrets.API_TOKEN}}' },
    })}
    ${textArea({
      name: 'body',
      label: 'Body',
      form,
      help: 'JSON, except with GET. A text that is only a placeholder keeps the argument’s type: "{{args.count}}" becomes 3.',
      attributes: { ...CODE, rows: 5, placeholder: '{"order": "{{args.order_number}}"}' },
    })}
    ${textArea({
      name: 'response_fields',
      label: 'Response fields',
      form,
      help: 'The fields that the agent sees. One path per line, such as items.name. Leave empty for all.',
      attributes: { ...CODE, rows: 2, placeholder: 'status' },
    })}
    ${secretsPart(form, action)}
  </section>
`;

/** The placeholders that the request can use, from what is in the form now. */
function placeholders(values: FormValues): View {
  const paths = argumentPaths(parametersFrom(values));
  const secrets = secretNames(values);
  const row = (placeholder: string, meaning: string) =>
    html`<li><code>{{${placeholder}}}</code> ${meaning}</li>`;
  return html`
    <details id="placeholders" open>
      <summary>Placeholders</summary>
      <ul>
        ${paths.map((path) => row(`args.${path}`, `the argument ${path}`))}
        ${paths.length === 0 ? row('args.NAME', 'an argument, by its parameter name') : null}
        ${row('conversation.id', 'the conversation, or conv_test in a test call')}
        ${row('call.id', 'this call, the same for each attempt, so it works as an idempotency key')}
        ${secrets.map((name) => row(`secrets.${name}`, `the secret ${name}, in headers only`))}
        ${secrets.length === 0 ? row('secrets.NAME', 'a secret from below, in headers only') : null}
      </ul>
      <p class="muted">Use them in the path, query, headers and body, but not in the host. An optional query parameter, header or field without a value is left out.</p>
    </details>
  `;
}

const MAX_PATHS = 50;
const MAX_DEPTH = 3;

/** `address.city`: the properties of a schema, and those inside of objects. */
function argumentPaths(schema: JsonObject, depth = 1): readonly string[] {
  const { properties } = schema;
  if (!isJsonObject(properties) || depth > MAX_DEPTH) return [];
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

/** Shows the names of secrets, never their values. */
const secretsPart = (form: FormState, action: string): View => html`
  <fieldset>
    <legend>Secrets</legend>
    <p class="muted">For use in headers. Values are stored encrypted and never shown again, so enter new ones again if this form has a problem. To change a stored secret, enter a new value. Secrets belong to the URL’s scheme, host and port: if one of these changes, enter the secrets that the request uses again. The others are removed.</p>
    ${fieldProblem('secrets', form)}
    <div id="secret-rows">
      ${secretNumbers(form.values).map((number) => secretRow(number, form))}
    </div>
    ${formButton({ value: 'add-secret', label: 'Add secret', swap: SWAP_SECRETS }, action)}
  </fieldset>
`;

function secretRow(number: number, form: FormState): View {
  const [name, value, stored] = [`s${number}_name`, `s${number}_value`, `s${number}_stored`];
  const isStored = form.values[stored] !== undefined;
  return html`
    <div class="secret">
      ${isStored ? html`<input type="hidden" name=${stored} value="on" />` : null}
      <div>
        ${field({
          name,
          label: `Name of secret ${number + 1}`,
          form,
          attributes: {
            ...CODE,
            autocomplete: 'off',
            maxlength: 64,
            readonly: isStored,
            placeholder: 'API_TOKEN',
          },
        })}
      </div>
      <div>
        ${field({
          name: value,
          label: `${isStored ? 'New value' : 'Value'} of secret ${number + 1}`,
          form: { ...form, values: {} },
          attributes: {
            type: 'password',
            autocomplete: 'new-password',
            maxlength: 4096,
            placeholder: isStored ? 'Leave empty to keep' : '',
          },
        })}
      </div>
    </div>
  `;
}
