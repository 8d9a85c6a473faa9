import { z } from 'zod';
import { KEY_AREAS, type ApiKey, type AreaPermission, type SignedIn } from '../../../team/index.ts';
import { csrfField, hiddenFields } from '../../../platform/html/components.ts';
import {
  checkbox,
  field,
  formProblems,
  newForm,
  parseForm,
  select,
  type FormState,
  type FormValues,
  type ParsedForm,
  type Problems,
} from '../../../platform/html/forms.ts';
import { readOffset } from '../../../platform/html/times.ts';
import { html, type View } from '../../../platform/html/html.ts';
import { textSchema } from '../../../platform/http/schemas.ts';
import { newFormToken } from '../../../platform/security/tokens.ts';
import { AREA_LABELS, READ_ONLY } from './keyWords.ts';

/** The forms that create and change an API key. */

const DAY_MS = 24 * 60 * 60 * 1000;
const LIFETIMES = [
  ['never', 'Never'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'After a date'],
] as const;
const ACCESS = [
  ['all', 'All of the API'],
  ['read', 'All of the API, only reading'],
  ['chosen', 'Only what is chosen below'],
] as const;
const LEVELS = [
  ['', 'Nothing'],
  ['read', 'Read'],
  ['write', 'Read and change'],
] as const;

const oneOfOptions = <Word extends string>(options: readonly (readonly [Word, string])[]) =>
  z.enum(options.map(([word]) => word) as [Word, ...Word[]], 'choose one from the list');

/** The end of a later day could be in the year 10000, which no screen can show. */
const LAST_DAY = '9998-12-31';
const DAY_PROBLEMS = {
  past: 'Enter today or a later day.',
  late: 'Enter a day before the year 9999.',
} as const;
type DayProblem = keyof typeof DAY_PROBLEMS;

const nameSchema = textSchema(100).transform((name) => name.trim());

const newKeySchema = z.object({
  name: nameSchema,
  reveal: z.literal('on').optional(),
  access: oneOfOptions(ACCESS).default('all'),
  expires: oneOfOptions(LIFETIMES).default('never'),
});

const keyChangesSchema = z.object({
  name: nameSchema,
  expires: oneOfOptions([['keep', ''] as const, ...LIFETIMES]).default('keep'),
});

interface WantedKey {
  readonly name: string;
  readonly permissions: readonly 'contacts:reveal'[];
  readonly limitedTo: readonly AreaPermission[] | null;
  readonly expiresAt: Date | null;
}

export function parseNewKey(values: FormValues, now: Date): ParsedForm<WantedKey> {
  const form = parseForm(newKeySchema, values);
  if (!form.ok) return form;
  const { name, reveal, access, expires } = form.data;
  const chosen = chosenAreas(values);
  const expiresAt = endOf(expires, values, now);
  const problems = {
    ...(access === 'chosen' && chosen.length === 0
      ? { access: 'Choose below what the key may do.' }
      : {}),
    ...(access !== 'chosen' && chosen.length > 0
      ? { access: 'Choose “Only what is chosen below”, or “Nothing” for each part.' }
      : {}),
    ...unusedDay(expires, values),
    ...(typeof expiresAt === 'string' ? { expires_on: DAY_PROBLEMS[expiresAt] } : {}),
  };
  if (typeof expiresAt === 'string' || Object.keys(problems).length > 0)
    return { ok: false, values, problems };
  const limitedTo = access === 'all' ? null : access === 'read' ? READ_ONLY : chosen;
  const permissions = reveal === undefined ? [] : (['contacts:reveal'] as const);
  return { ok: true, data: { name, permissions, limitedTo, expiresAt } };
}

interface KeyChanges {
  readonly name: string;
  /** Null: never; undefined: as before. */
  readonly expiresAt: Date | null | undefined;
}

export function parseKeyChanges(values: FormValues, now: Date): ParsedForm<KeyChanges> {
  const form = parseForm(keyChangesSchema, values);
  if (!form.ok) return form;
  const { name, expires } = form.data;
  const expiresAt = expires === 'keep' ? undefined : endOf(expires, values, now);
  if (typeof expiresAt === 'string')
    return { ok: false, values, problems: { expires_on: DAY_PROBLEMS[expiresAt] } };
  const problems = unusedDay(expires, values);
  if (Object.keys(problems).length > 0) return { ok: false, values, problems };
  return { ok: true, data: { name, expiresAt } };
}

const chosenAreas = (values: FormValues): readonly AreaPermission[] =>
  KEY_AREAS.flatMap((area) => {
    const level = values[`area_${area}`];
    return level === 'read' || level === 'write' ? [`${area}:${level}` as const] : [];
  });

/** The problem of a day on which the key would not expire, since something else was chosen. */
const unusedDay = (expires: string, { expires_on: day = '' }: FormValues): Problems =>
  expires === 'date' || day === ''
    ? {}
    : { expires: 'Choose “After a date”, or leave the last day empty.' };

/** When a key expires. A day ends at midnight, in UTC or the time zone that the page's script added. */
function endOf(
  expires: (typeof LIFETIMES)[number][0],
  { expires_on: day = '', offset }: FormValues,
  now: Date,
): Date | null | DayProblem {
  if (expires === 'never') return null;
  if (expires !== 'date') return new Date(now.getTime() + Number(expires) * DAY_MS);
  const start = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : NaN;
  const end = start + DAY_MS + (readOffset(offset) ?? NaN) * 60_000;
  if (!(end > now.getTime())) return 'past';
  return day > LAST_DAY ? 'late' : new Date(end);
}

/** Creates a key. Folded until it is needed. Sending it twice creates one key. */
export const newKeyForm = (signedIn: SignedIn, refused: FormState | undefined): View => {
  const form = refused ?? newForm({ form: newFormToken(), access: 'all', expires: 'never' });
  return html`
    <details id="new-key" open=${refused !== undefined}>
      <summary class="open-form">Create an API key</summary>
      ${refused ? formProblems(refused) : null}
      <form method="post" action="/keys" class="narrow-form" hx-disabled-elt="find button">
        ${csrfField(signedIn)}${hiddenFields({ form: form.values.form })}
        ${nameField(form)}
        ${select({
          name: 'access',
          label: 'Permissions',
          form,
          options: ACCESS,
          help: 'n8n needs all of the API. Permissions cannot be changed later.',
        })}
        <details open=${form.values.access === 'chosen' || chosenAreas(form.values).length > 0}>
          <summary>Choose permissions</summary>
          ${KEY_AREAS.map((area) =>
            select({ name: `area_${area}`, label: AREA_LABELS[area], form, options: LEVELS }),
          )}
        </details>
        ${checkbox({ name: 'reveal', label: 'May read contact details in the clear', form })}
        <p class="muted">
          Phone numbers and e-mails, for a CRM. Each reading is recorded with the key. Other keys see them masked.
        </p>
        ${expiryFields(form, LIFETIMES)}
        <button>Create key</button>
      </form>
    </details>
  `;
};

/** Renames a key, or changes when it expires. */
export const editKeyForm = (
  signedIn: SignedIn,
  key: ApiKey,
  refused: FormState | undefined,
): View => {
  const form = refused ?? newForm({ name: key.name, expires: 'keep' });
  return html`
    <details id="edit" open=${refused !== undefined}>
      <summary class="open-form">Edit</summary>
      ${refused ? formProblems(refused) : null}
      <form method="post" action=${`/keys/${key.id}/edit`} class="narrow-form">
        ${csrfField(signedIn)}
        ${nameField(form)}
        ${expiryFields(form, [['keep', 'As it is now'], ...LIFETIMES])}
        <button>Save</button>
      </form>
    </details>
  `;
};

const nameField = (form: FormState): View =>
  field({
    name: 'name',
    label: 'Name',
    form,
    help: 'Shown as the sender of messages written with this key, such as n8n.',
    attributes: { required: true, maxlength: 100, autocomplete: 'off' },
  });

const expiryFields = (form: FormState, options: readonly (readonly [string, string])[]): View => [
  select({
    name: 'expires',
    label: 'Expires',
    form,
    options,
    help: 'An expired key is refused. Everything that uses it stops working.',
  }),
  field({
    name: 'expires_on',
    label: 'Last day on which the key works',
    form,
    help: html`Only with “After a date”. Time zone: <span data-zone>UTC</span>.`,
    attributes: { type: 'date', max: LAST_DAY, 'data-own-day': true },
  }),
  html`<input type="hidden" name="offset" value="" />`,
];
