import ipaddr from 'ipaddr.js';
import type { ConnectedAccount, SetupField, SetupValues } from '../accounts/accountSetup.ts';
import { AppError } from '../http/errorCatalogue.ts';
import { badge, testedView } from './components.ts';
import {
  field,
  formProblems,
  sentence,
  textArea,
  type FormState,
  type FormValues,
  type Problems,
} from './forms.ts';
import { html, type View } from './html.ts';
import { timeView } from './times.ts';

/** What the pages of channels and of payment providers share: an account's form and its state. */

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

/** Shown above a rejected form. It never holds secrets, so they have to be entered again. */
export const setupFormProblems = (form: FormState): View =>
  formProblems(form, 'Nothing was saved. Correct the marked fields and enter new secrets again.');

/** @param shown generated values, which the form shows, unlike secrets */
export const setupFormValues = (settings: SetupValues, shown: SetupValues = {}): FormValues =>
  Object.fromEntries(
    Object.entries({ ...settings, ...shown }).map(([name, value]) => [inputName(name), value]),
  );

/** The settings entered in a form, without secrets that were left empty. */
export const setupFrom = (fields: readonly SetupField[], values: FormValues): SetupValues =>
  Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = values[inputName(name)];
      const isGiven = value !== undefined && !(kind === 'secret' && value.trim() === '');
      return isGiven ? [[name, value]] : [];
    }),
  );

/** An operation's error as the problem of a form field; null when it is not about a field. */
export function setupProblems(error: unknown): Problems | null {
  if (!(error instanceof AppError) || !error.details.param?.startsWith('settings.')) return null;
  const { param } = error.details;
  const name = param.slice('settings.'.length);
  return { [inputName(name)]: sentence(error.message.slice(param.length + 1)) };
}

export function connectionBadge({ lastTest }: Pick<ConnectedAccount, 'lastTest'>): View {
  if (lastTest === null) return badge('not tested');
  return lastTest.ok ? badge('working', 'good') : badge('failed', 'bad');
}

/** The last connection test. @param label of the channel or provider */
export const lastTestView = (
  { lastTest }: Pick<ConnectedAccount, 'lastTest'>,
  label: string,
  now: Date,
): View =>
  lastTest === null
    ? html`
        <p>
          Not tested yet with these settings. A test asks ${label} and sends nothing to customers.
        </p>
      `
    : testedView(lastTest.at, lastTest.ok, lastTest.message, now);

/** When the channel last delivered something, which shows whether its webhook is set up. */
export const lastInboundView = (
  { lastInboundAt }: { readonly lastInboundAt: string | null },
  label: string,
  now: Date,
): View =>
  lastInboundAt === null
    ? html`Nothing received from ${label} yet.`
    : html`Last received from ${label}: ${timeView(lastInboundAt, now)}.`;

/** Why other services cannot reach the public URL; null when the URL itself gives no reason. */
export function whyUnreachable(publicUrl: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  if (isLocal(hostname)) return `${publicUrl} is only reachable from this machine or network.`;
  if (protocol !== 'https:') return `${publicUrl} does not begin with https://.`;
  return null;
}

function isLocal(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(address)) return ipaddr.process(address).range() !== 'unicast';
  return !hostname.includes('.') || /\.(localhost|local|internal|lan)$/.test(hostname);
}

/**
 * Warns that other services cannot reach this one.
 * @param sender the channel or provider that cannot
 * @param consequence what does not work until then
 */
export function reachabilityWarning(
  publicUrl: string,
  sender: string,
  consequence = 'Until then, no messages from customers arrive.',
): View {
  const why = whyUnreachable(publicUrl);
  if (why === null) return null;
  return html`
    <p class="problem" role="note">
      <strong>${sender} cannot reach this service:</strong> ${why} Set <code>PUBLIC_URL</code> to its
      public <code>https://</code> URL and restart it. ${consequence}
    </p>
  `;
}
