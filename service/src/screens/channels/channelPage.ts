import type { ConnectedChannel } from '../../channels/channelAdapter.ts';
import { connectedChannel } from '../../channels/registry.ts';
import type { Channel } from '../../domain/channel.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import type { SetupValues } from '../../domain/accountSetup.ts';
import { channelWebhookUrl } from '../../domain/webhookAddress.ts';
import { formProblem, type FormValues, type Problems } from '../forms.ts';
import { html, type View } from '../html.ts';
import { csrfField, teamPage } from '../layout.ts';
import { connectionBadge, connectionWords, deliveryWords } from './channelState.ts';
import { nameField } from './newChannelPage.ts';
import { reachabilityWarning } from './reachability.ts';
import { setupInputs, shownSetup } from './setupForm.ts';

export interface ChannelPage {
  readonly channel: Channel;
  /** Its generated values, in the clear. */
  readonly shown: SetupValues;
  /** The service's address as others see it. */
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
  /** What stands in the form, when it is not what is stored. */
  readonly values?: FormValues;
  readonly problems?: Problems;
  /** What is wrong with the whole form. */
  readonly refused?: View;
}

/**
 * One connected account: whether it works, how the channel is set up to reach us, what is filled
 * in.
 */
export function channelPage(signedIn: SignedIn, page: ChannelPage): View {
  const { channel, publicUrl, notice } = page;
  const adapter = connectedChannel(channel.type);
  return teamPage(
    signedIn,
    { title: channel.name, section: 'channels', notice },
    html`
      <p class="back"><a href="/channels">All channels</a></p>
      <h1><bdi>${channel.name}</bdi></h1>
      <p class="muted">${adapter.label}, ${channel.account}</p>
      ${reachabilityWarning(publicUrl, adapter.label)}
      <div hx-ext="sse" sse-connect="/live">
        <span hidden hx-get=${`/channels/${channel.id}/fragment`} hx-trigger="sse:channels, htmx:sseOpen from:closest [sse-connect]" hx-target="#connection" hx-swap="outerHTML show:none"></span>
      </div>
      ${connectionSection(signedIn, page)}
      ${setupSection(adapter, page)}
      ${formSection(signedIn, adapter, page)}
      ${disconnectSection(signedIn, adapter, channel)}
    `,
  );
}

/** The part that changes by itself. */
export function connectionSection(
  signedIn: SignedIn,
  { channel, now }: Pick<ChannelPage, 'channel' | 'now'>,
): View {
  const { label } = connectedChannel(channel.type);
  return html`
    <section id="connection" aria-labelledby="connection-title" aria-live="polite">
      <h2 id="connection-title">Connection ${connectionBadge(channel)}</h2>
      ${connectionWords(channel, label, now)}
      <p>${deliveryWords(channel, label, now)}</p>
      <form method="post" action=${`/channels/${channel.id}/test`} hx-disabled-elt="find button">${csrfField(signedIn)}<button id="test-connection" class="fit">Test connection</button></form>
    </section>
  `;
}

const setupSection = (
  { label, fields, setupSteps = [] }: ConnectedChannel,
  { channel, shown, publicUrl }: ChannelPage,
): View => html`
  <section aria-labelledby="setup-title">
    <h2 id="setup-title">Set up ${label}</h2>
    <dl class="tool-facts">
      <dt>Webhook address</dt>
      <dd>${copied('webhook-address', channelWebhookUrl(publicUrl, channel), 'the webhook address')}</dd>
      ${fields.filter(({ name }) => shown[name] !== undefined).map(({ name, label }) => html`<dt>${label}</dt><dd>${copied(`shown-${name}`, shown[name]!, `the ${label.toLowerCase()}`)}</dd>`)}
    </dl>
    <ol>${setupSteps.map((step) => html`<li>${step}</li>`)}</ol>
  </section>
`;

const copied = (id: string, value: string, what: string): View =>
  html`<code id=${id}>${value}</code> <button class="small" type="button" data-copy=${`#${id}`} aria-label=${`Copy ${what}`}>Copy</button>`;

function formSection(
  signedIn: SignedIn,
  { fields }: ConnectedChannel,
  { channel, shown, values, problems = {}, refused = null }: ChannelPage,
): View {
  const filledIn = values ?? { name: channel.name, ...shownSetup(channel.settings, shown) };
  return html`
    <section aria-labelledby="values-title">
      <h2 id="values-title">What is filled in</h2>
      ${refused === null ? null : html`<p class="problem" role="alert">${refused}</p>`}
      ${formProblem(Object.keys(problems).length > 0 ? 'Nothing was changed. Correct what is marked below, and fill changed secrets in again: they are not sent back.' : undefined)}
      <form method="post" action=${`/channels/${channel.id}`}>
        ${csrfField(signedIn)}
        ${nameField(filledIn, problems)}
        ${setupInputs(fields, { values: filledIn, problems, secretsSet: Object.keys(channel.sealedSecrets) })}
        <button class="fit">Save</button>
      </form>
    </section>
  `;
}

/** Asks in the page itself, so that it asks without scripts too. */
const disconnectSection = (
  signedIn: SignedIn,
  { label }: ConnectedChannel,
  { id, name }: Channel,
): View => html`
  <section aria-label="Disconnect">
    <details id="disconnect">
      <summary class="keys-open">Disconnect…</summary>
      <form method="post" action=${`/channels/${id}/disconnect`}>
        ${csrfField(signedIn)}
        <p>Disconnect <bdi>${name}</bdi>? Nothing more comes in from it, and messages that are still to be sent fail. Its token and secrets are deleted here. The conversations stay; connect the same account again to write to its customers. Nothing is changed at ${label}.</p>
        <button class="fit secondary">Yes, disconnect <bdi>${name}</bdi></button>
      </form>
    </details>
  </section>
`;
