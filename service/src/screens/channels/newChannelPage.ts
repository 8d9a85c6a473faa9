import type { ConnectedChannel } from '../../channels/channelAdapter.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { field, formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { reachabilityWarning } from './reachability.ts';
import { setupInputs } from './setupForm.ts';

export interface NewChannelPage {
  readonly adapter: ConnectedChannel;
  readonly publicUrl: string;
  readonly values?: FormValues;
  readonly problems?: Problems;
  /** What is wrong with the whole. */
  readonly refused?: View;
}

/** The form that connects an account of any channel. */
export const newChannelPage = (
  signedIn: SignedIn,
  { adapter, publicUrl, values = {}, problems = {}, refused = null }: NewChannelPage,
): View =>
  teamPage(
    signedIn,
    { title: `Connect ${adapter.label}`, section: 'channels' },
    html`
      <p class="back"><a href="/channels">All channels</a></p>
      <h1>Connect ${adapter.label}</h1>
      ${reachabilityWarning(publicUrl, adapter.label)}
      ${refused === null ? null : html`<p class="problem" role="alert">${refused}</p>`}
      ${formProblem(Object.keys(problems).length > 0 ? 'Correct what is marked below, and fill the secrets in again: they are not sent back.' : undefined)}
      <form method="post" action="/channels">
        ${csrfField(signedIn)}
        <input type="hidden" name="type" value=${adapter.type} />
        ${nameField(values, problems)}
        ${setupInputs(adapter.fields, { values, problems, secretsSet: null })}
        <button class="fit">Connect</button>
      </form>
    `,
  );

export const nameField = (values: FormValues, problems: Problems): View =>
  field({
    name: 'name',
    label: 'Name',
    values,
    problems,
    help: 'As your team calls it, such as Shop.',
    attributes: { required: true, maxlength: 100, autocomplete: 'off' },
  });
