import type { FormValues, Problems } from '../forms.ts';
import { parametersFrom, parameterValues, secretNumbers } from './definitionForm.ts';
import { EMPTY_ROW, rowsFrom, rowValues, type ParameterRow } from './parameterRows.ts';
import { prettyJson } from './textLines.ts';

export interface ChangedForm {
  readonly values: FormValues;
  readonly problems?: Problems;
  readonly added?: boolean;
}

/** What the buttons inside of the form change; null when the form is saved. */
export function changeForm(values: FormValues): ChangedForm | null {
  const [action, number] = (values.do ?? 'save').split(':');
  switch (action) {
    case 'add-parameter':
      return { values: withRows(values, [...rowsFrom(values), EMPTY_ROW]), added: true };
    case 'remove-parameter':
      return {
        values: withRows(
          values,
          rowsFrom(values).filter((_, index) => index !== Number(number)),
        ),
      };
    case 'to-json':
      return toJson(values);
    case 'to-fields':
      return toFields(values);
    case 'add-secret':
      return { values: { ...values, [`s${(secretNumbers(values).at(-1) ?? -1) + 1}_name`]: '' } };
    default:
      return null;
  }
}

const withRows = (values: FormValues, rows: readonly ParameterRow[]): FormValues => ({
  ...withoutParameters(values),
  ...rowValues(rows),
});

const withoutParameters = (values: FormValues): FormValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/^p\d+_|^parameters$/.test(name)));

function toJson(values: FormValues): ChangedForm {
  const problems: Record<string, string> = {};
  const schema = parametersFrom({ ...values, parameters_as: 'fields' }, problems);
  if (Object.keys(problems).length > 0) return { values, problems };
  const { closed: _, ...rest } = withoutParameters(values);
  return { values: { ...rest, parameters_as: 'json', parameters: prettyJson(schema) } };
}

function toFields(values: FormValues): ChangedForm {
  const problems: Record<string, string> = {};
  const schema = parametersFrom({ ...values, parameters_as: 'json' }, problems);
  if (Object.keys(problems).length > 0) return { values, problems };
  const found = parameterValues(schema);
  if (found.parameters_as === 'json')
    return {
      values,
      problems: { parameters: 'This schema does not fit into fields. Keep it as JSON Schema.' },
    };
  return { values: { ...withoutParameters(values), ...found } };
}
