import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { z } from 'zod';
import type { FormValues, Problems } from '../../platform/html/forms.ts';
import { rowsFrom } from './parameterRows.ts';
import { secretNumbers } from './definitionForm.ts';

/**
 * The field of the form that shows a problem, and the name of the faulty part in the message.
 */
interface FormField {
  readonly field: string;
  readonly subject: string;
}

/** Problems that the API's schema found, by field. The first one of each field counts. */
export function schemaProblems({ issues }: z.ZodError, values: FormValues): Problems {
  const problems: Record<string, string> = {};
  for (const { path, message } of issues) {
    const { field, subject } = fieldOf(path.map(String).join('.'), values);
    problems[field] ??= sentence(subject, message);
  }
  return problems;
}

/**
 * The problem that made the operation fail, by field; `''` stands for the whole form.
 * @throws the error when changing the form would not help
 */
export function operationProblems(error: unknown, values: FormValues): Problems {
  if (!(error instanceof AppError) || error.code === 'not_found') throw error;
  const { param } = error.details;
  if (error.code === 'tool_exists')
    return { name: `Another tool is already named ${values.name ?? ''}. Choose another name.` };
  if (param === undefined) return { '': error.message };
  const { field, subject } = fieldOf(param, values);
  const rest = error.message.startsWith(`${param} `) ? error.message.slice(param.length + 1) : null;
  return { [field]: rest === null ? error.message : sentence(subject, rest) };
}

const sentence = (subject: string, rest: string) =>
  `${subject} ${rest}${/[.!?]$/.test(rest) ? '' : '.'}`;

const FIELDS: Readonly<Record<string, FormField>> = {
  name: { field: 'name', subject: 'The name' },
  description: { field: 'description', subject: 'The description' },
  example_phrases: { field: 'example_phrases', subject: 'The list of example phrases' },
  kind: { field: 'kind', subject: 'The kind' },
  endpoint: { field: 'endpoint', subject: 'The endpoint' },
  timeout: { field: 'timeout', subject: 'The timeout' },
  secrets: { field: 'secrets', subject: 'The secrets' },
  parameters: { field: 'parameters', subject: 'The schema' },
  request_template: { field: 'template', subject: 'The request' },
  'request_template.method': { field: 'method', subject: 'The method' },
  'request_template.url': { field: 'url', subject: 'The URL' },
  'request_template.query': { field: 'query', subject: 'The query' },
  'request_template.headers': { field: 'headers', subject: 'The headers' },
  'request_template.body': { field: 'body', subject: 'The body' },
  'request_template.response_fields': { field: 'response_fields', subject: 'The list' },
};

/** Fields with one entry per line; a problem names the entry by its index. Empty lines are none. */
const LISTS: ReadonlySet<string> = new Set(['example_phrases', 'request_template.response_fields']);

function fieldOf(param: string, values: FormValues): FormField {
  const exact = FIELDS[param];
  if (exact !== undefined) return exact;
  const known = Object.keys(FIELDS)
    .filter((each) => param.startsWith(`${each}.`))
    .sort((a, b) => b.length - a.length)[0];
  if (known === undefined) return { field: '', subject: param };
  const inside = param.slice(known.length + 1);
  if (known === 'parameters') return fieldOfParameter(inside, values);
  if (known === 'secrets') return fieldOfSecret(inside, values);
  const { field } = FIELDS[known]!;
  if (LISTS.has(known))
    return { field, subject: `Line ${lineOfEntry(values[field] ?? '', Number(inside))}` };
  return { field, subject: `“${inside}”` };
}

/** The number of the line that holds an entry. @param index of the entry, as `linesFrom` gives it */
function lineOfEntry(text: string, index: number): number {
  const filled = [...text.split('\n').entries()].filter(([, line]) => line.trim() !== '');
  return (filled[index]?.[0] ?? index) + 1;
}

/** `properties.date.type` → the row of `date`; the text area when parameters are edited as JSON. */
function fieldOfParameter(inside: string, values: FormValues): FormField {
  const [, name] = /^properties\.([^.]+)/.exec(inside) ?? [];
  const row =
    values.parameters_as === 'json' ? -1 : rowsFrom(values).findIndex((each) => each.name === name);
  return row === -1
    ? { field: 'parameters', subject: `“${inside}”` }
    : { field: `p${row}_name`, subject: `“${name}”` };
}

function fieldOfSecret(name: string, values: FormValues): FormField {
  const number = secretNumbers(values).find(
    (each) => (values[`s${each}_name`] ?? '').trim() === name,
  );
  return {
    field: number === undefined ? 'secrets' : `s${number}_name`,
    subject: `The secret ${name}`,
  };
}
