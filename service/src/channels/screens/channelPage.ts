import type { ConnectedChannel } from '../channelAdapter.ts';
import { connectedChannel } from '../registry.ts';
import { channelWebhookUrl, type Channel } from '../channel.ts';
import { isOwner, type SignedIn } from '../../team/index.ts';
import type { SetupValues } from '../../platform/accounts/accountSetup.ts';
import { backLink, copyable, csrfField, postButton } from '../../platform/html/components.ts';
import { field, formProblem, newForm, type FormState } from '../../platform/html/forms.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import {
  connectionBadge,
  lastInboundView,
  lastTestView,
  reachabilityWarning,
  setupFormProblems,
  setupFormValues,
  setupInputs,
} from '../../platform/html/accountForm.ts';

export interface NewChannelPage {
  readonly adapter: ConnectedChannel;
  readonly publicUrl: string;
  readonly form?: FormState;
  /** Why the account could not be connected. */
  readonly refused?: View;
}

/** Connects an account. */
export const newChannelPage = (
  signedIn: SignedIn,
  { adapter, publicUrl, form = newForm(), refused }: NewChannelPage,
): View =>
  teamPage(
    signedIn,
    { title: `Connect ${adapter.label}`, section: 'channels' },
    html`
      ${backLink('/channels', 'Channels')}
      <h1>Connect ${adapter.label}</h1>
      ${reachabilityWarning(publicUrl, adapter.label)}
      ${formProblem(refused)}
      ${setupFormProblems(form)}
      <form method="post" action="/channels">
        ${csrfField(signedIn)}
        <input type="hidden" name="type" value=${adapter.type} />
        ${nameField(form)}
        ${setupInputs(adapter.fields, form)}
        <button class="fit">Connect</button>
      </form>
    `,
  );

const nameField = (form: FormState): View =>
  field({
    name: 'name',
    label: 'Name',
    form,
    help: 'What your team calls it, such as Shop.',
    attributes: { required: true, maxlength: 100, autocomplete: 'off' },
  });

export interface ChannelPage {
  readonly channel: Channel;
  /** Whether the workspace has another account of this type. */
  readonly hasOthers: boolean;
  /** The values that the service generated for it, for an owner; none for a member. */
  readonly shown: SetupValues;
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
  /** A form that was refused. */
  readonly form?: FormState;
  /** Why the settings could not be saved. */
  readonly refused?: View;
}

/** A connected account: its connection, how to set up the channel, and its settings. */
export function channelPage(signedIn: SignedIn, page: ChannelPage): View {
  const { channel, publicUrl, notice, now } = page;
  const adapter = connectedChannel(channel.type);
  return teamPage(
    signedIn,
    { title: channel.name, section: 'channels', notice },
    html`
      ${backLink('/channels', 'Channels')}
      <h1><bdi>${channel.name}</bdi></h1>
      <p class="muted">${adapter.label}, ${channel.account}</p>
      ${reachabilityWarning(publicUrl, adapter.label)}
      ${liveSection(
        'channels',
        'connection-live',
        `/channels/${channel.id}/fragment`,
        connectionSection(signedIn, channel, now),
      )}
      ${isOwner(signedIn.member) ? ownersSections(signedIn, page) : settingsFacts(adapter, channel)}
    `,
  );
}

/** How to set up the channel, and the forms that change it. */
function ownersSections(signedIn: SignedIn, page: ChannelPage): View {
  const adapter = connectedChannel(page.channel.type);
  return html`
    ${setupSection(adapter, page)}
    ${settingsSection(signedIn, adapter, page)}
    ${disconnectSection(signedIn, adapter, page)}
  `;
}

/** The settings for a member to read. The secrets are not among them. */
const settingsFacts = ({ fields }: ConnectedChannel, { settings }: Channel): View => html`
  <section aria-labelledby="settings-title">
    <h2 id="settings-title">Settings</h2>
    <p class="muted">An owner can set up, test, change and disconnect this account.</p>
    <dl class="facts-list">
      ${fields
        .filter(({ name }) => settings[name] !== undefined)
        .map(({ name, label }) => html`<dt>${label}</dt><dd><bdi>${settings[name]}</bdi></dd>`)}
    </dl>
  </section>
`;

/** The part of the page that live updates replace. */
export function connectionSection(signedIn: SignedIn, channel: Channel, now: Date): View {
  const { label } = connectedChannel(channel.type);
  return html`
    <section id="connection" aria-labelledby="connection-title" aria-live="polite">
      <h2 id="connection-title">Connection ${connectionBadge(channel)}</h2>
      ${lastTestView(channel, label, now)}
      <p>${lastInboundView(channel, label, now)}</p>
      ${postButton(signedIn, {
        action: `/channels/${channel.id}/test`,
        label: 'Test connection',
        button: { id: 'test-connection', class: 'fit' },
        form: { 'hx-disabled-elt': 'find button' },
      })}
    </section>
  `;
}

const setupSection = (
  { label: channelLabel, fields, setupSteps = [] }: ConnectedChannel,
  { channel, shown, publicUrl }: ChannelPage,
): View => html`
  <section aria-labelledby="setup-title">
    <h2 id="setup-title">Set up ${channelLabel}</h2>
    <dl class="facts-list">
      <dt>Webhook URL</dt>
      <dd>
        ${copyable('webhook-address', channelWebhookUrl(publicUrl, channel), 'the webhook URL')}
      </dd>
      ${fields
        .filter(({ name }) => shown[name] !== undefined)
        .map(
          ({ name, label }) => html`
            <dt>${label}</dt>
            <dd>${copyable(`shown-${name}`, shown[name]!, `the ${label.toLowerCase()}`)}</dd>
          `,
        )}
    </dl>
    <ol>${setupSteps.map((step) => html`<li>${step}</li>`)}</ol>
  </section>
`;

function settingsSection(
  signedIn: SignedIn,
  { fields }: ConnectedChannel,
  { channel, shown, refused, ...page }: ChannelPage,
): View {
  const { name, settings, sealedSecrets } = channel;
  const form = page.form ?? newForm({ name, ...setupFormValues(settings, shown) });
  return html`
    <section aria-labelledby="settings-title">
      <h2 id="settings-title">Settings</h2>
      ${formProblem(refused)}
      ${setupFormProblems(form)}
      <form method="post" action=${`/channels/${channel.id}`}>
        ${csrfField(signedIn)}
        ${nameField(form)}
        ${setupInputs(fields, form, Object.keys(sealedSecrets))}
        <button class="fit">Save</button>
      </form>
    </section>
  `;
}

/** The confirmation is part of the page, so that it works without scripts. */
const disconnectSection = (
  signedIn: SignedIn,
  { label }: ConnectedChannel,
  { channel: { id, name }, hasOthers }: ChannelPage,
): View => html`
  <section aria-label="Disconnect">
    <details id="disconnect">
      <summary class="open-form">Disconnect…</summary>
      <form method="post" action=${`/channels/${id}/disconnect`}>
        ${csrfField(signedIn)}
        <p>
          Disconnect <bdi>${name}</bdi>? No more messages arrive from it, and messages that have not
          been sent yet fail. Its token and secrets are deleted here. Its conversations stay: connect
          the same account again to write to its customers. Nothing changes at ${label}.
        </p>
        ${hasOthers && sharedAddressWarning(label)}
        <button class="fit danger">Yes, disconnect <bdi>${name}</bdi></button>
      </form>
    </details>
  </section>
`;

const sharedAddressWarning = (label: string): View => html`
  <p>
    <strong>Your other ${label} accounts may share its webhook URL, which stops working.</strong>
    If they do, first enter the webhook URL and the verify token of one of them at ${label}.
    Otherwise no more messages arrive from them either.
  </p>
`;
