import {
  readPaymentLink,
  type Tool,
  isBuiltIn,
  resultBeginning,
  type ToolCall,
} from '../tools/index.ts';
import { formatAmount } from '../platform/currency.ts';
import { paymentAdapterOf } from '../payments/index.ts';
import { durationInWords } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { timeView } from '../platform/html/times.ts';
import { callBadge } from '../tools/screens/callBadge.ts';
import { isJsonObject, type Json, type JsonObject } from '../platform/json.ts';

/** Values that are nested deeper, and longer lists, are shown as JSON. */
const MAX_DEPTH = 3;
const MAX_LIST_ITEMS = 50;
/** A longer description is not used as a label. */
const MAX_LABEL_CHARACTERS = 60;
const MAX_TEXT_CHARACTERS = 20_000;

/** A tool call, folded. It shows the name and status, and inside the arguments and the result. */
export const toolCallView = (call: ToolCall, tool: Tool | null, now: Date): View => html`
  <details class="call" id=${call.id}>
    <summary id=${`summary-${call.id}`}>
      <span>${isBuiltIn(call) ? null : 'Tool '}<b>${callName(call)}</b></span>
      ${callBadge(call)}
      ${timeView(call.createdAt, now)}
    </summary>
    ${argumentsView(call, tool)}
    ${resultView(call)}
  </details>
`;

export const callName = (call: ToolCall): string =>
  isBuiltIn(call) ? 'Payment link' : readableName(call.tool);

/** The arguments of a call. Their labels come from the tool's schema, if it has not changed since. */
export function argumentsView(call: ToolCall, tool: Tool | null): View {
  const link = paymentLinkView(call);
  if (link !== null) return link;
  if (Object.keys(call.arguments).length === 0) return html`<p class="muted">No arguments.</p>`;
  const isSameTool = tool?.definitionHash === call.definitionHash;
  return valuesView(call.arguments, isSameTool ? tool?.parameters : undefined);
}

/** The payment link that the agent asks for; null for other calls, and for refused arguments. */
function paymentLinkView(call: ToolCall): View | null {
  if (!isBuiltIn(call) || call.provider === undefined) return null;
  const { label, rules } = paymentAdapterOf(call.provider);
  const read = readPaymentLink(call.arguments, rules);
  if (read.problem !== null) return null;
  const { amount, currency, description } = read.request;
  const row = (name: string, value: string) =>
    html`<div><dt>${name}</dt><dd><bdi class="text">${value}</bdi></dd></div>`;
  return html`
    <dl class="values">
      ${row('Amount', `${formatAmount(amount, currency)} (${currency.toUpperCase()})`)}
      ${row('For', description)}
      ${row('Provider', label)}
    </dl>
  `;
}

/** The attempts, error and result of a call. A payment link itself is shown in the thread. */
export const resultView = (call: ToolCall): View => html`
  ${call.attempts === 0 ? null : html`<p class="muted">${attemptsInWords(call)}</p>`}
  ${call.error === null ? null : html`<p class="problem">${call.error.message}</p>`}
  ${call.status === 'succeeded' && !isBuiltIn(call) ? html`<p class="part">Result</p><div class="result">${valueView(resultBeginning(call))}</div>` : null}
`;

const attemptsInWords = ({ attempts, httpStatus, durationMs, isUnderWay }: ToolCall): string =>
  [
    attempts === 1 ? '1 attempt' : `${attempts} attempts`,
    isUnderWay ? 'in progress' : null,
    httpStatus === null ? null : `status ${httpStatus}`,
    durationInWords(durationMs),
  ]
    .filter(Boolean)
    .join(', ');

/** `order_number` → "Order number", `dueDate` → "Due date". */
function readableName(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_\-.\s]+/g, ' ')
    .trim();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1).toLowerCase();
}

const textAt = (schema: Json | undefined, key: string): string | null => {
  const value = isJsonObject(schema) && Object.hasOwn(schema, key) ? schema[key] : null;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

/** A property's label: its schema's title, a short description, or its name. */
function labelOf(name: string, schema: Json | undefined): string {
  const description = textAt(schema, 'description');
  return (
    textAt(schema, 'title') ??
    (description !== null && description.length <= MAX_LABEL_CHARACTERS
      ? description
      : readableName(name))
  );
}

const propertyOf = (schema: Json | undefined, name: string): Json | undefined => {
  const properties =
    isJsonObject(schema) && Object.hasOwn(schema, 'properties') ? schema.properties : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
};

/** An object as labels and values. @param schema its JSON Schema, for the labels */
const valuesView = (
  values: JsonObject,
  schema: Json | undefined = undefined,
  depth = 1,
): View => html`
  <dl class="values">
    ${Object.entries(values).map(([name, value]) => html`<div><dt><bdi>${labelOf(name, propertyOf(schema, name))}</bdi></dt><dd>${valueView(value, propertyOf(schema, name), depth)}</dd></div>`)}
  </dl>
`;

/** Any value of a tool call: texts as they are, objects as labels and values. */
function valueView(value: Json, schema: Json | undefined = undefined, depth = 0): View {
  if (value === null || value === '')
    return html`<span class="muted">${value === null ? 'nothing' : 'empty'}</span>`;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value !== 'object') return longText(String(value));
  if (depth >= MAX_DEPTH) return html`<pre>${longText(JSON.stringify(value, null, 2))}</pre>`;
  if (isJsonObject(value))
    return Object.keys(value).length === 0
      ? html`<span class="muted">empty</span>`
      : valuesView(value, schema, depth + 1);
  if (value.length === 0) return html`<span class="muted">none</span>`;
  if (value.length > MAX_LIST_ITEMS)
    return html`<pre>${longText(JSON.stringify(value, null, 2))}</pre>`;
  const items = isJsonObject(schema) ? schema.items : undefined;
  return html`<ul class="plain-list">${value.map((item) => html`<li>${valueView(item, items, depth + 1)}</li>`)}</ul>`;
}

const longText = (text: string): View =>
  text.length <= MAX_TEXT_CHARACTERS
    ? html`<bdi class="text">${text}</bdi>`
    : html`<bdi class="text">${text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}</bdi><span class="muted">… and ${text.length - MAX_TEXT_CHARACTERS} more characters</span>`;
