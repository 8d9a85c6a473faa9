import { html, type View } from '../../../platform/html/html.ts';
import type { Schema } from './document.ts';

const MAX_DEPTH = 4;

/** A text in which `code` stands between backticks. */
export const prose = (text: string): View =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));

const nameOf = (ref: string): string => ref.split('/').at(-1)!;

const schemaHref = (name: string): string => `/api/docs/objects#${name}`;

/** `one of "a", "b"`, `Delivery or null`, `array of string`. */
export function typeView(schema: Schema): View {
  const { $ref, type, items } = schema;
  if ($ref !== undefined) return html`<a href=${schemaHref(nameOf($ref))}>${nameOf($ref)}</a>`;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((each, at) => html`${at === 0 ? null : ' or '}${typeView(each)}`);
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.enum) return html`one of ${listed(schema.enum)}`;
  if (type === 'array') return html`array${items ? html` of ${typeView(items)}` : null}`;
  return [type ?? 'anything', schema.format].filter((each) => each !== undefined).join(', ');
}

const listed = (values: readonly unknown[]): View =>
  values.map((value, at) => html`${at === 0 ? null : ', '}<code>${JSON.stringify(value)}</code>`);

/** The limits and the default of a value. zod writes ±(2^53 - 1) where a number has no limit. */
function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const range = (from: number | undefined, to: number | undefined, noun: string) => {
    const least = from !== undefined && from > Number.MIN_SAFE_INTEGER ? from : undefined;
    const most = to !== undefined && to < Number.MAX_SAFE_INTEGER ? to : undefined;
    if (least === undefined && most === undefined) return [];
    const unit = noun === '' ? '' : ` ${noun}${(most ?? least) === 1 ? '' : 's'}`;
    if (most === undefined) return [`at least ${least}${unit}`];
    return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
  };
  return [
    ...range(minimum, maximum, ''),
    ...range(minLength, maxLength, 'character'),
    ...range(minItems, maxItems, 'item'),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ].join('; ');
}

/** One field: name, type, whether it is needed, what it means. */
export const fieldView = (name: string, schema: Schema, isRequired: boolean, depth = 1): View => {
  const limits = limitsOf(schema);
  return html`
    <div>
      <dt><code>${name}</code></dt>
      <dd>
        <p>
          <span class="muted">
            ${typeView(schema)}${isRequired ? html`, <b>required</b>` : null}
            ${limits === '' ? null : `; ${limits}`}
          </span>
        </p>
        ${schema.description === undefined ? null : html`<p>${prose(schema.description)}</p>`}
        ${nestedView(schema, depth)}
      </dd>
    </div>
  `;
};

function nestedView(schema: Schema, depth: number): View {
  if (depth >= MAX_DEPTH) return null;
  const inner = [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return inner.map((each) => (each?.properties ? fieldsView(each, depth + 1) : null));
}

/** The fields of an object; for anything else, its type. */
export const fieldsView = (schema: Schema, depth = 1): View =>
  schema.properties === undefined
    ? html`<p>${typeView(schema)}</p>${nestedView(schema, depth)}`
    : html`
        <dl class="fields">
          ${Object.entries(schema.properties).map(([name, each]) =>
            fieldView(name, each, schema.required?.includes(name) ?? false, depth),
          )}
        </dl>
      `;
