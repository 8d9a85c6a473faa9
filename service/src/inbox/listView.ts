import { adapterOf } from '../channels/index.ts';
import { INBOX_TABS, type InboxTab } from './tabs.ts';
import { MAX_COUNTED, type Inbox, type InboxCounts, type InboxItem } from './listInbox.ts';
import { MAX_SEARCHED } from '../platform/http/searchPage.ts';
import { html, type View } from '../platform/html/html.ts';
import { reloadsOn } from '../platform/html/liveSection.ts';
import { timeView } from '../platform/html/times.ts';
import { hrefAt, type Place } from './links.ts';
import { itemHref, matchView } from './matchView.ts';
import { STAGE_LABELS, TAB_LABELS, holderBadge } from './labels.ts';
import { customerName } from '../conversations/index.ts';

export interface ListParts {
  readonly inbox: Inbox;
  readonly place: Place;
  /** The conversation that is open next to the list. */
  readonly openId: string | null;
  readonly now: Date;
}

const TABS = INBOX_TABS.filter((tab) => tab !== 'approvals');

/** The left pane: the search, and the list, which loads again by itself. */
export const listPane = (parts: ListParts): View => html`
  <section class="list-pane" aria-label="List of conversations">
    <form role="search" action="/conversations" method="get" class="search">
      ${parts.place.tab === 'all' ? null : html`<input type="hidden" name="tab" value=${parts.place.tab} />`}
      <input type="search" name="q" id="search" value=${parts.place.search} maxlength="200" placeholder="Name, phone, e-mail or what was said" aria-label="Search by name, phone, e-mail, masked contact or what was said" />
      <button class="secondary outline">Search</button>
    </form>
    <div id="list" class="live" data-live hx-get=${hrefAt('/conversations/list', parts.place, { open: parts.openId })} hx-trigger=${reloadsOn('conversations', '.inbox')}>
      ${listFragment(parts)}
    </div>
  </section>
`;

/** The tabs and a page of the list. Links have ids, so that the focus survives when the list reloads. */
export const listFragment = ({ inbox, place, openId, now }: ListParts): View => html`
  ${tabs(place, inbox.counts)}
  <div class="items" id="items" data-keep-scroll tabindex="0" role="region" aria-label=${TAB_LABELS[place.tab]}>
    ${place.after === null ? null : html`<p class="pager"><a id="list-newest" href=${hrefAt('/conversations', { ...place, after: null })}>Back to the newest conversations</a></p>`}
    ${inbox.items.length === 0 && inbox.next === null ? emptyList(place) : null}
    <ul>
      ${inbox.items.map((item) => html`<li>${itemView(item, place, openId, now)}</li>`)}
    </ul>
    ${inbox.stoppedEarly ? html`<p class="muted pager">${MAX_SEARCHED.toLocaleString('en')} conversations or messages were searched, newest first.</p>` : null}
    ${inbox.next === null ? null : html`<p class="pager"><a id="list-older" href=${hrefAt('/conversations', { ...place, after: inbox.next })}>${inbox.stoppedEarly ? 'Search older conversations' : 'Older conversations'}</a></p>`}
  </div>
`;

const counted = (count: number) => (count >= MAX_COUNTED ? `${MAX_COUNTED - 1}+` : String(count));

function tabs({ tab: current, search }: Place, { waiting, approvals }: InboxCounts): View {
  const link = (tab: InboxTab, count: number) => html`
    <li>
      <a id=${`tab-${tab}`} href=${hrefAt('/conversations', { tab, search, after: null })} aria-current=${tab === current ? 'page' : null}>${TAB_LABELS[tab]}${count === 0 ? null : html`${' '}<b class="count">${counted(count)}</b>`}</a>
    </li>
  `;
  const approvalsLabel =
    approvals === 1
      ? '1 approval is waiting for your decision'
      : `${counted(approvals)} approvals are waiting for your decision`;
  return html`
    <nav class="tabs" aria-label="Filter conversations"><ul>${TABS.map((tab) => link(tab, tab === 'waiting' ? waiting : 0))}</ul></nav>
    ${
      approvals === 0 && current !== 'approvals'
        ? null
        : html`<p class="approvals-line"><a id="tab-approvals" href=${hrefAt('/conversations', { tab: 'approvals', search: '', after: null })} aria-current=${current === 'approvals' ? 'page' : null}>${approvals === 0 ? 'No approvals are waiting' : approvalsLabel}</a></p>`
    }
  `;
}

function itemView(item: InboxItem, place: Place, openId: string | null, now: Date): View {
  const { conversation, contact, takenByName } = item;
  const isOpen = conversation.id === openId;
  const unread = isOpen ? 0 : item.unread;
  return html`
    <a id=${`item-${conversation.id}`} class=${unread > 0 ? 'item unread' : 'item'} href=${itemHref(item, place)} aria-current=${isOpen ? 'true' : null}>
      <span class="item-head"><bdi class="who">${customerName(contact)}</bdi>${timeView(conversation.updatedAt, now)}</span>
      <span class="preview"><bdi>${previewView(item)}</bdi></span>
      <span class="marks">
        ${unread === 0 ? null : html`<b class="count">${unread} unread</b>`}
        ${conversation.pendingApprovals === 0 ? null : html`<b class="badge attention">${conversation.pendingApprovals === 1 ? 'Needs approval' : `${conversation.pendingApprovals} approvals`}</b>`}
        ${holderBadge(conversation, takenByName)}
        <span class="muted">${STAGE_LABELS[conversation.funnelStage]} · ${adapterOf(conversation.channel).label}</span>
      </span>
    </a>
  `;
}

function previewView({ lastMessage, match }: InboxItem): View {
  if (match !== null) return html`${previewPrefix(match.message.sender)}${matchView(match)}`;
  if (lastMessage === null) return 'No messages yet';
  return `${previewPrefix(lastMessage.sender)}${excerpt(lastMessage.text)}`;
}

const previewPrefix = ({ type, name }: { type: string; name: string }) =>
  type === 'customer' ? '' : `${name}: `;

const MAX_PREVIEW_CHARACTERS = 120;
const excerpt = (text: string) => {
  const line = text.slice(0, 2 * MAX_PREVIEW_CHARACTERS).replace(/\s+/g, ' ');
  const characters = [...line];
  return characters.length > MAX_PREVIEW_CHARACTERS
    ? `${characters.slice(0, MAX_PREVIEW_CHARACTERS).join('')}…`
    : line;
};

const EMPTY: Readonly<Record<InboxTab, View>> = {
  all: html`No conversations yet. Customers write at <a href="/chat">/chat</a>; their messages appear here. To answer them from n8n, start with an <a href="/examples">example workflow</a>.`,
  agent: 'The agent has no conversations right now.',
  waiting: 'No one is waiting for a person.',
  mine: 'You have no conversations. Open one and take over, or just reply.',
  closed: 'No closed conversations yet.',
  approvals: 'No tool calls are waiting for a decision.',
};

const emptyList = ({ tab, search }: Place): View => {
  if (search === '') return html`<p class="empty">${EMPTY[tab]}</p>`;
  return html`
    <p class="empty">
      No results for “<bdi>${search}</bdi>”${tab === 'all' ? '' : ` in “${TAB_LABELS[tab]}”`}.${' '}
      ${tab === 'all' ? html`<a href="/conversations">Show all conversations</a>` : html`<a href=${hrefAt('/conversations', { tab: 'all', search, after: null })}>Search all conversations</a>`}
    </p>
  `;
};
