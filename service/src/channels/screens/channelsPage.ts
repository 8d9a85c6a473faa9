import { adapterOf, CONNECTED_CHANNELS } from '../registry.ts';
import { MAX_CHANNELS, type Channel } from '../channel.ts';
import { WEB_CHAT } from '../../conversations/index.ts';
import { memberNote, type SignedIn } from '../../team/index.ts';
import { badge } from '../../platform/html/components.ts';
import { html, type View } from '../../platform/html/html.ts';
import { teamPage } from '../../platform/html/layout.ts';
import { liveSection } from '../../platform/html/liveSection.ts';
import {
  connectionBadge,
  lastInboundView,
  reachabilityWarning,
} from '../../platform/html/accountForm.ts';

interface ChannelsPage {
  readonly channels: readonly Channel[];
  readonly publicUrl: string;
  readonly now: Date;
  readonly notice?: unknown;
}

/** The web chat, the connected accounts, and what else can be connected. */
export const channelsPage = (
  signedIn: SignedIn,
  { channels, publicUrl, now, notice }: ChannelsPage,
): View =>
  teamPage(
    signedIn,
    { title: 'Channels', section: 'channels', notice },
    html`
      <h1>Channels</h1>
      <p class="muted">
        Where customers write to you. Every conversation comes from one of these channels.
      </p>
      ${reachabilityWarning(publicUrl, CONNECTED_CHANNELS.map(({ label }) => label).join(' or '))}
      ${webChatSection(signedIn.workspace.slug, publicUrl)}
      ${liveSection(
        'channels',
        'accounts-live',
        '/channels/fragment',
        accountsSection(channels, now),
      )}
      ${memberNote(signedIn, 'An owner can connect accounts and change them.')}
      ${
        channels.length >= MAX_CHANNELS
          ? html`
            <p>
              The workspace has ${MAX_CHANNELS} connected accounts, which is the limit. To connect another, an owner has to disconnect one.
            </p>
          `
          : html`
            <p class="row">
              ${CONNECTED_CHANNELS.map(
                ({ type, label }) => html`
                  <a role="button" href=${`/channels/new?type=${type}`}>Connect ${label}</a>
                `,
              )}
            </p>
          `
      }
    `,
  );

const webChatSection = (slug: string, publicUrl: string): View => html`
  <section aria-labelledby="web-chat-title">
    <h2 id="web-chat-title">${adapterOf(WEB_CHAT).label} ${badge('on', 'good')}</h2>
    <p>
      Always available, without an account:${' '}
      <a href=${`${publicUrl}/chat?workspace=${encodeURIComponent(slug)}`} hx-boost="false">
        open the chat page
      </a>.
      To add the chat to your own website, copy the snippet${' '}
      <a href="/agent#chat-title">on the Agent page</a>.
    </p>
  </section>
`;

/** The part of the page that live updates replace. */
export const accountsSection = (channels: readonly Channel[], now: Date): View => html`
  <section id="accounts" aria-labelledby="accounts-title">
    <h2 id="accounts-title">Connected accounts</h2>
    ${
      channels.length === 0
        ? html`<p>No connected accounts yet.</p>`
        : html`
          <ul class="bare records">
            ${channels.map((channel) => accountItem(channel, now))}
          </ul>
        `
    }
  </section>
`;

function accountItem(channel: Channel, now: Date): View {
  const { label } = adapterOf(channel.type);
  return html`
    <li>
      <div class="what">
        <p>
          <a id=${`channel-${channel.id}`} href=${`/channels/${channel.id}`}>
            <bdi>${channel.name}</bdi>
          </a>
          <span class="muted">${' '}${label}, ${channel.account}</span>
        </p>
        <p class="muted">${lastInboundView(channel, label, now)}</p>
      </div>
      ${connectionBadge(channel)}
    </li>
  `;
}
