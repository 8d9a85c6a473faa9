import { AppError } from '../../domain/errorCatalogue.ts';
import type { SetupField, SetupValues } from '../../domain/accountSetup.ts';
import {
  field,
  formProblems,
  sentence,
  textArea,
  type FormState,
  type FormValues,
  type Problems,
} from '../forms.ts';
import type { View } from '../html.ts';

/** The form of a connected account, made from the fields of its channel or payment provider. */

const inputName = (name: string): string => `s_${name}`;

/** @param storedSecrets the secrets that are already saved */
export const setupInputs = (
  fields: readonly SetupField[],
  form: FormState,
  storedSecrets: readonly string[] = [],
): View => fields.map((each) => setupInput(each, form, storedSecrets.includes(each.name)));

function setupInput(
  { name, label, help, kind, isRequired, max }: SetupField,
  form: FormState,
  isStored: boolean,
): View {
  const options = {
    name: inputName(name),
    label: isRequired ? label : `${label} (optional)`,
    form,
    help,
  };
  const attributes = { required: isRequired && !isStored, autocomplete: 'off', maxlength: max };
  switch (kind) {
    case 'lines':
      return textArea({ ...options, attributes: { ...attributes, rows: 4 } });
    case 'secret':
      return field({
        ...options,
        form: { ...form, values: {} },
        help: isStored ? `${help} Leave empty to keep the saved one.` : help,
        attributes: {
          required: attributes.required,
          type: 'password',
          autocomplete: 'new-password',
          spellcheck: 'false',
        },
      });
    default:
      return field({ ...options, attributes: { ...attributes, spellcheck: 'false' } });
  }
}

/** Above a form that came back. Secrets are never sent to the browser, so they are entered again. */
export const setupFormProblems = (form: FormState): View =>
  formProblems(form, 'Nothing was saved. Correct the marked fields and enter new secrets again.');

/** Stored settings as the form's values, without secrets. @param shown generated values in the clear */
export const setupFormValues = (settings: SetupValues, shown: SetupValues = {}): FormValues =>
  Object.fromEntries(
    Object.entries({ ...settings, ...shown }).map(([name, value]) => [inputName(name), value]),
  );

/** The settings that a form gives. A secret that is left empty is not given. */
export const setupFrom = (fields: readonly SetupField[], values: FormValues): SetupValues =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = values[inputName(name)];
      const isGiven = value !== undefined && !(kind === 'secret' && value.trim() === '');
      return isGiven ? [[name, value]] : [];
    }),
  );

/** An operation's error as the problem of a field; null when it is about something else. */
export function setupProblems(error: unknown): Problems | null {
  if (!(error instanceof AppError) || !error.details.param?.startsWith('settings.')) return null;
  const { param } = error.details;
  const name = param.slice('settings.'.length);
  return { [inputName(name)]: sentence(error.message.slice(param.length + 1)) };
}
