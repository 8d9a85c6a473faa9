import { parse } from 'node:querystring';
import type { Request, RequestHandler } from 'express';
import type { z } from 'zod';
import { readBody } from '../http/server/readBody.ts';
import { html, type View } from './html.ts';

/**
 * Every form takes the same steps: `readForm` gives what was typed, and `parseForm` checks it. If
 * it is refused, the page shows the form again, with its values and problems.
 */

const MAX_FIELDS = 1000;
/** For forms that anyone can post: names, passwords, a token. */
const MAX_PUBLIC_FORM_BYTES = 16 * 1024;
/** For members' forms, which include the definitions of tools. */
const MAX_MEMBER_FORM_BYTES = 256 * 1024;
const FORM_CONTENT_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i;

const formBody =
  (maxBytes: number): RequestHandler =>
  async (request, response, next) => {
    if (FORM_CONTENT_TYPE.test(request.headers['content-type'] ?? '')) {
      const text = (await readBody(request, response, { maxBytes })).toString();
      request.body = { ...parse(text, '&', '=', { maxKeys: MAX_FIELDS }) };
    }
    next();
  };

/** Reads the body of a form that anyone can post. */
export const readPublicFormBody = formBody(MAX_PUBLIC_FORM_BYTES);
/** Reads the body of a member's form. */
export const readMemberFormBody = formBody(MAX_MEMBER_FORM_BYTES);

export type FormValues = Readonly<Record<string, string>>;
/** What is wrong, by field; `''` is the form as a whole. */
export type Problems = Readonly<Record<string, string>>;

/** A form as a page shows it. */
export interface FormState {
  readonly values: FormValues;
  readonly problems: Problems;
}

/** A form that nobody has sent yet. */
export const newForm = (values: FormValues = {}): FormState => ({ values, problems: {} });

/**
 * The texts of a posted form, with line breaks as `\n` (browsers send `\r\n`). Of a field that is
 * sent several times, the last value counts.
 */
export const readForm = ({ body }: Pick<Request, 'body'>): FormValues =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>)
      .map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value] as const)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
      .map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]),
  );

export type ParsedForm<T> =
  | { readonly ok: true; readonly data: T }
  | ({ readonly ok: false } & FormState);

/**
 * Checks a form with a schema.
 * @param input what is checked, if not the texts themselves
 * @returns the data, or the form with the first problem of each field as a sentence
 */
export function parseForm<Schema extends z.ZodType>(
  schema: Schema,
  values: FormValues,
  input: unknown = values,
): ParsedForm<z.output<Schema>> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return { ok: true, data: parsed.data };
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues)
    problems[String(path[0] ?? '')] ??= sentence(message);
  return { ok: false, values, problems };
}

/** `must not be empty` → `Must not be empty.` */
export const sentence = (text: string): string =>
  `${text[0]!.toUpperCase()}${text.slice(1).replace(/\.?$/, '.')}`;

interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly form?: FormState;
  /** Shown below the field. */
  readonly help?: View;
  /** Attributes of the input: type, required, maxlength, autocomplete. */
  readonly attributes?: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

/** A label, a control, its help and its problem, tied together for screen readers. */
function labelled(
  { name, label, form = newForm(), help, attributes }: FieldOptions,
  control: (attributes: Attributes, value: string) => View,
): View {
  const isWrong = form.problems[name] !== undefined;
  const describedBy = [help ? `h-${name}` : '', isWrong ? `p-${name}` : ''].join(' ').trim();
  const tied = {
    id: `f-${name}`,
    name,
    'aria-invalid': isWrong ? 'true' : null,
    'aria-describedby': describedBy === '' ? null : describedBy,
    ...attributes,
  };
  return html`
    <div class="field">
      <label for=${`f-${name}`}>${label}</label>
      ${control(tied, form.values[name] ?? '')}
      ${help ? html`<small id=${`h-${name}`}>${help}</small>` : null}
      ${fieldProblem(name, form)}
    </div>
  `;
}

/** A text of one line. */
export const field = (options: FieldOptions): View =>
  labelled(options, (tied, value) => html`<input ...${tied} value=${value} />`);

/** A text of several lines. */
export const textArea = (options: FieldOptions): View =>
  labelled(options, (tied, value) => html`<textarea ...${tied}>${value}</textarea>`);

type Option = readonly [value: string, label: string];
interface OptionGroup {
  readonly group: string;
  readonly options: readonly Option[];
}

/** A list to choose from. */
export const select = ({
  options,
  ...rest
}: FieldOptions & { readonly options: readonly (Option | OptionGroup)[] }): View => {
  const optionView = (option: Option | OptionGroup, chosen: string): View =>
    'group' in option
      ? html`
          <optgroup label=${option.group}>
            ${option.options.map((each) => optionView(each, chosen))}
          </optgroup>
        `
      : html`<option value=${option[0]} selected=${option[0] === chosen}>${option[1]}</option>`;
  return labelled(
    rest,
    (tied, value) =>
      html`<select ...${tied}>${options.map((option) => optionView(option, value))}</select>`,
  );
};

/** A checkbox with its label. The help is a part of the label. */
export const checkbox = ({
  name,
  label,
  form = newForm(),
  help,
  attributes,
}: FieldOptions): View => html`
  <label for=${`f-${name}`}>
    <input
      type="checkbox"
      id=${`f-${name}`}
      name=${name}
      checked=${form.values[name] === 'on'}
      ...${attributes}
    /> ${label}${help ? html` <small class="muted">${help}</small>` : null}
  </label>
`;

/** One of several choices, which all have the same `name`. */
export const radio = ({
  name,
  value,
  label,
  form,
  attributes,
}: Omit<FieldOptions, 'help'> & { readonly value: string; readonly form: FormState }): View => html`
  <label for=${`f-${name}-${value}`}>
    <input
      type="radio"
      id=${`f-${name}-${value}`}
      name=${name}
      value=${value}
      checked=${form.values[name] === value}
      ...${attributes}
    /> ${label}
  </label>
`;

/** What is wrong with a field. `field`, `textArea` and `select` show it by themselves. */
export const fieldProblem = (name: string, { problems }: FormState): View =>
  problems[name] === undefined
    ? null
    : html`<small id=${`p-${name}`} class="problem" role="alert">${problems[name]}</small>`;

/** What is wrong with a form as a whole. */
export const formProblem = (problem: View): View =>
  problem ? html`<p class="problem" role="alert">${problem}</p>` : null;

/** Above a form that came back: what is wrong with it as a whole, or that some fields are wrong. */
export const formProblems = (
  { problems }: FormState,
  summary = 'Correct the marked fields.',
): View => formProblem(problems[''] ?? (Object.keys(problems).length > 0 ? summary : null));
