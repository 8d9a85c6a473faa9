import { AppError } from '../../domain/errorCatalogue.ts';
import type { SetupField, SetupValues } from '../../domain/accountSetup.ts';
import { field, textArea, type FormValues, type Problems } from '../forms.ts';
import type { View } from '../html.ts';

/**
 * The form of what a team fills in, made from a channel's fields: no channel has a form of its own.
 */

const PREFIX = 's_';
const inputOf = (name: string): string => `${PREFIX}${name}`;

export interface SetupForm {
  readonly values: FormValues;
  readonly problems: Problems;
  /** The secrets that are filled in already. Null: the account is new. */
  readonly secretsSet: readonly string[] | null;
}

export const setupInputs = (fields: readonly SetupField[], form: SetupForm): View =>
  fields.map((each) => setupInput(each, form));

function setupInput(
  { name, label, help, kind, isRequired, max }: SetupField,
  { values, problems, secretsSet }: SetupForm,
): View {
  const isSet = secretsSet?.includes(name) ?? false;
  const common = {
    name: inputOf(name),
    label: isRequired ? label : `${label} (optional)`,
    problems,
  };
  const attributes = { required: isRequired && !isSet, autocomplete: 'off', spellcheck: 'false' };
  if (kind === 'lines')
    return textArea({
      ...common,
      values,
      help,
      attributes: { ...attributes, rows: 4, maxlength: max, spellcheck: null },
    });
  if (kind !== 'secret')
    return field({ ...common, values, help, attributes: { ...attributes, maxlength: max } });
  const kept = isSet ? `${help} One is kept; leave this empty to keep it.` : help;
  return field({
    ...common,
    values: {},
    help: kept,
    attributes: { ...attributes, type: 'password', autocomplete: 'new-password' },
  });
}

/**
 * Stored settings as the form shows them; of secrets nothing. @param shown generated values, in the
 * clear
 */
export const shownSetup = (settings: SetupValues, shown: SetupValues): FormValues =>
  Object.fromEntries(
    Object.entries({ ...settings, ...shown }).map(([name, value]) => [inputOf(name), value]),
  );

/** What was filled in. A secret or a value to be generated that is left empty is not given. */
export const setupFrom = (fields: readonly SetupField[], values: FormValues): SetupValues =>
  Object.fromEntries(
    fields
      .map(({ name, kind }) => ({ name, kind, value: values[inputOf(name)] }))
      .filter(
        ({ kind, value }) => value !== undefined && !(kind === 'secret' && value.trim() === ''),
      )
      .map(({ name, value }) => [name, value!]),
  );

/** What an operation says of a value, beside its field; null when it is about something else. */
export function setupProblems(error: unknown): Problems | null {
  if (!(error instanceof AppError) || !error.details.param?.startsWith('settings.')) return null;
  const { param } = error.details;
  const words = error.message.slice(param.length + 1);
  return {
    [inputOf(param.slice('settings.'.length))]: `${words[0]!.toUpperCase()}${words.slice(1)}`,
  };
}
