import type { FormValues, Problems } from '../forms.ts';
import { html, type View } from '../html.ts';

/** Inputs beside those of forms.ts: choices and switches. */

interface ChoiceOptions {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly values: FormValues;
  readonly problems?: Problems;
}

/** A labelled list of which one is chosen. */
export const choice = ({
  name,
  label,
  options,
  values,
  problems = {},
}: ChoiceOptions): View => html`
  <label for=${`f-${name}`}>${label}</label>
  <select id=${`f-${name}`} name=${name} aria-invalid=${problems[name] === undefined ? null : 'true'} aria-describedby=${problems[name] === undefined ? null : `p-${name}`}>
    ${options.map(([value, text]) => html`<option value=${value} selected=${(values[name] ?? '') === value}>${text}</option>`)}
  </select>
  ${problemNote(name, problems)}
`;

/** Something that is on or off, with its label after it. */
export const checkbox = ({
  name,
  label,
  values,
  attributes = {},
}: {
  name: string;
  label: View;
  values: FormValues;
  attributes?: Readonly<Record<string, unknown>>;
}): View => html`
  <label for=${`f-${name}`}><input type="checkbox" id=${`f-${name}`} name=${name} checked=${values[name] === 'on'} ...${attributes} /> ${label}</label>
`;

/** What is wrong with something that is no single field. */
export const problemNote = (name: string, problems: Problems): View =>
  problems[name] === undefined
    ? null
    : html`<small id=${`p-${name}`} class="problem" role="alert">${problems[name]}</small>`;
