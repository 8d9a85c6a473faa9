import { parse } from 'node:querystring';
import type { RequestHandler } from 'express';
import type { z } from 'zod';
import { readBody } from '../http/readBody.ts';
import { html, type View } from './html.ts';

const formBody =
  (maxBytes: number): RequestHandler =>
  async (request, response, next) => {
    if (
      /^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] ?? '')
    ) {
      request.body = {
        ...parse((await readBody(request, response, { maxBytes })).toString(), '&', '=', {
          maxKeys: MAX_FIELDS,
        }),
      };
    }
    next();
  };

const MAX_FIELDS = 1000;
/** Names, passwords, a token: what anybody may post, before they are signed in. */
const MAX_STRANGER_FORM_BYTES = 16 * 1024;
/** Definitions of tools among them. */
const MAX_MEMBER_FORM_BYTES = 256 * 1024;

/** Reads a form that anybody may post. */
export const readFormBody = formBody(MAX_STRANGER_FORM_BYTES);
/** Reads a member's form. */
export const readMemberForm = formBody(MAX_MEMBER_FORM_BYTES);

export type FormValues = Readonly<Record<string, string>>;
/** What is wrong, by field. */
export type Problems = Readonly<Record<string, string>>;

/** The texts of a posted form. A field that came twice is its last value; `listOf` gives all. */
export const formValues = (body: unknown): FormValues =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>)
      .map(([name, value]) => [name, Array.isArray(value) ? value.at(-1) : value] as const)
      .filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** A browser sends each line break of a text as two characters; here it is one. */
export const withPlainBreaks = (values: FormValues): FormValues =>
  Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]),
  );

/** Every value of a field that may come several times. */
export function valuesOf(body: unknown, name: string): readonly string[] {
  const value = ((body ?? {}) as Record<string, unknown>)[name];
  return [value ?? []].flat().filter((each): each is string => typeof each === 'string');
}

export type ParsedForm<T> =
  | { readonly ok: true; readonly data: T }
  | { readonly ok: false; readonly problems: Problems };

/** Checks a form by a schema; the first problem of each field is said in words. */
export function parseForm<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): ParsedForm<z.output<Schema>> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return { ok: true, data: parsed.data };
  const problems: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues)
    problems[String(path[0] ?? '')] ??= `${message[0]!.toUpperCase()}${message.slice(1)}.`;
  return { ok: false, problems };
}

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly values?: FormValues;
  readonly problems?: Problems;
  /** Said below the field. */
  readonly help?: View;
  /** Attributes of the input: type, required, maxlength, autocomplete. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** A labelled input, with its value, its help and what is wrong with it. */
export const field = ({
  name,
  label,
  values = {},
  problems = {},
  help,
  attributes = {},
}: FieldOptions): View => {
  const { describedBy, notes } = notesOf(name, help, problems[name]);
  return html`
    <label for=${`f-${name}`}>${label}</label>
    <input id=${`f-${name}`} name=${name} value=${values[name] ?? ''} aria-invalid=${problems[name] === undefined ? null : 'true'} aria-describedby=${describedBy} ...${attributes} />
    ${notes}
  `;
};

/** The same for a text of several lines. */
export const textArea = ({
  name,
  label,
  values = {},
  problems = {},
  help,
  attributes = {},
}: FieldOptions): View => {
  const { describedBy, notes } = notesOf(name, help, problems[name]);
  return html`
    <label for=${`f-${name}`}>${label}</label>
    <textarea id=${`f-${name}`} name=${name} aria-invalid=${problems[name] === undefined ? null : 'true'} aria-describedby=${describedBy} ...${attributes}>${values[name] ?? ''}</textarea>
    ${notes}
  `;
};

function notesOf(name: string, help: View, problem: string | undefined) {
  const ids = [help ? `h-${name}` : null, problem === undefined ? null : `p-${name}`].filter(
    (id) => id !== null,
  );
  return {
    describedBy: ids.length === 0 ? null : ids.join(' '),
    notes: html`
      ${help ? html`<small id=${`h-${name}`}>${help}</small>` : null}
      ${problem === undefined ? null : html`<small id=${`p-${name}`} class="problem" role="alert">${problem}</small>`}
    `,
  };
}

/** What is wrong with the form as a whole. */
export const formProblem = (problem: string | undefined): View =>
  problem === undefined ? null : html`<p class="problem" role="alert">${problem}</p>`;
