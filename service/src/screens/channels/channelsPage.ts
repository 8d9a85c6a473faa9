import type { ConnectedChannel } from '../../channels/channelAdapter.ts';
import { adapterOf, CONNECTED_CHANNELS } from '../../channels/registry.ts';
import { MAX_CHANNELS, WEB_CHAT, type Channel } from '../../domain/channel.ts';
import type { SignedIn } from '../../domain/operations/findSession.ts';
import { html, type View } from '../html.ts';
import { teamPage } from '../layout.ts';
import { connectionBadge, deliveryWords } from './channelState.ts';
import { reachabilityWarning } from './reachability.ts';

export interface ChannelsPage {
  readonly channels: readonly Channel[];
  /** The service's address as others see it. */
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
}

/** Where customers write: the web chat, the connected accounts, and what else can be connected. */
export const channelsPage = (
  signedIn: SignedIn,
  { channels, publicUrl, now, notice }: ChannelsPage,
): View =>
  teamPage(
    signedIn,
    { title: 'Channels', section: 'channels', notice },
    html`
      <h1>Channels</h1>
      <p class="muted">Where customers write. Every conversation comes from one of these.</p>
      ${reachabilityWarning(publicUrl, CONNECTED_CHANNELS.map(({ label }) => label).join(' or '))}
      ${webChatSection(signedIn.workspace.slug, publicUrl)}
      <div hx-ext="sse" sse-connect="/live">
        <span hidden hx-get="/channels/fragment" hx-trigger="sse:channels, htmx:sseOpen from:closest [sse-connect]" hx-target="#accounts" hx-swap="outerHTML show:none"></span>
      </div>
      ${accountsSection(channels, now)}
      ${
        channels.length >= MAX_CHANNELS
          ? html`<p>A workspace has at most ${MAX_CHANNELS} connected accounts. Disconnect one that is no longer used to connect another.</p>`
          : html`<p class="row">${CONNECTED_CHANNELS.map(connectLink)}</p>`
      }
    `,
  );

const webChatSection = (slug: string, publicUrl: string): View => html`
  <section aria-labelledby="web-chat-title">
    <h2 id="web-chat-title">${adapterOf(WEB_CHAT).label} <span class="badge good">on</span></h2>
    <p>It needs no account and is always there: <a href=${`${publicUrl}/chat?workspace=${encodeURIComponent(slug)}`} hx-boost="false">open the chat page</a>. The line that brings it onto a page of your own is <a href="/agent#chat-title">on the Agent page</a>.</p>
  </section>
`;

/** The part that changes by itself. */
export const accountsSection = (channels: readonly Channel[], now: Date): View => html`
  <section id="accounts" aria-labelledby="accounts-title">
    <h2 id="accounts-title">Connected accounts</h2>
    ${
      channels.length === 0
        ? html`<p>None yet.</p>`
        : html`<ul class="keys-records">${channels.map((channel) => accountItem(channel, now))}</ul>`
    }
  </section>
`;

function accountItem(channel: Channel, now: Date): View {
  const { label } = adapterOf(channel.type);
  return html`
    <li>
      <div class="what">
        <p><a id=${`channel-${channel.id}`} href=${`/channels/${channel.id}`}><bdi>${channel.name}</bdi></a> <span class="muted">${label}, ${channel.account}</span></p>
        <p class="muted">${deliveryWords(channel, label, now)}</p>
      </div>
      ${connectionBadge(channel)}
    </li>
  `;
}

const connectLink = ({ type, label }: ConnectedChannel): View =>
  html`<a role="button" href=${`/channels/new?type=${type}`}>Connect ${label}</a>`;
