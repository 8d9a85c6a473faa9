import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { html, type View } from './html.ts';

/** Values that are nested more deeply than this, and longer lists, are shown as JSON. */
const MAX_DEPTH = 3;
const MAX_LIST_ITEMS = 50;
/** A longer description is not used as a label. */
const MAX_LABEL_CHARACTERS = 60;
const MAX_TEXT_CHARACTERS = 20_000;

/** `order_number` → "Order number", `dueDate` → "Due date". */
export function readableName(name: string): string {
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
export const valuesView = (
  values: JsonObject,
  schema: Json | undefined = undefined,
  depth = 1,
): View => html`
  <dl class="values">
    ${Object.entries(values).map(
      ([name, value]) => html`
        <div>
          <dt><bdi>${labelOf(name, propertyOf(schema, name))}</bdi></dt>
          <dd>${valueView(value, propertyOf(schema, name), depth)}</dd>
        </div>
      `,
    )}
  </dl>
`;

/** Any value: texts as they are, objects as labels and values. */
export function valueView(value: Json, schema: Json | undefined = undefined, depth = 0): View {
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
  return html`
    <ul class="bare plain-list">
      ${value.map((item) => html`<li>${valueView(item, items, depth + 1)}</li>`)}
    </ul>
  `;
}

const longText = (text: string): View =>
  text.length <= MAX_TEXT_CHARACTERS
    ? html`<bdi class="text">${text}</bdi>`
    : html`
        <bdi class="text">${text.slice(0, MAX_TEXT_CHARACTERS).toWellFormed()}</bdi>
        <span class="muted">… and ${text.length - MAX_TEXT_CHARACTERS} more characters</span>
      `;
