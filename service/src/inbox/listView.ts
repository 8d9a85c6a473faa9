import { INBOX_TABS, type InboxTab } from './tabs.ts';
import { countInWords } from './counts.ts';
import {
  MAX_COUNTED,
  type Inbox,
  type InboxCounts,
  type InboxItem,
  type InboxPlace,
} from './listInbox.ts';
import { MAX_SEARCHED } from '../platform/http/searchPage.ts';
import { avatar, hiddenFields } from '../platform/html/components.ts';
import { html, type View } from '../platform/html/html.ts';
import { icon } from '../platform/html/icons.ts';
import { reloadsOn } from '../platform/html/liveSection.ts';
import { shortTimeView } from '../platform/html/times.ts';
import { isFiltered, NO_FILTER } from './filter.ts';
import { filterForm, filterFields } from './filterView.ts';
import { hrefAt } from './links.ts';
import { itemHref, matchView } from './matchView.ts';
import { TAB_LABELS } from './labels.ts';
import { beginningOf, messageInWords } from './messageWords.ts';
import { rowStatus } from './rowStatus.ts';
import {
  type Conversation,
  customerName,
  isCustomerWaiting,
  type Message,
} from '../conversations/index.ts';
import type { SignedIn } from '../team/index.ts';
import { shortcutsButton } from './shortcutsView.ts';

export interface ListParts {
  readonly inbox: Inbox;
  readonly place: InboxPlace;
  /** The conversation that is open next to the list. */
  readonly openId: string | null;
  readonly signedIn: SignedIn;
  readonly now: Date;
  /** Whether to show all rows of the page; else the first ones, and the rest on scrolling down. */
  readonly isWhole?: boolean;
}

/** More than a screen shows. */
const FIRST_ROWS = 16;

const TABS = INBOX_TABS.filter((tab) => tab !== 'approvals');

/** The left pane: the search, and the list, which reloads by itself. */
export const listPane = (parts: ListParts): View => html`
  <section class="list-pane" aria-label="List of conversations">
    <div class="finding">
      <form role="search" action="/conversations" method="get" class="search">
        ${hiddenFields({ tab: searchedTab(parts.place) })}
        ${filterFields(parts.place.filter)}
        <input
          type="search"
          name="q"
          id="search"
          value=${parts.place.search}
          maxlength="200"
          placeholder="Search"
          title="Name, phone, e-mail or what was said"
          aria-label="Search by name, phone, e-mail, masked contact or what was said"
        />
        <button class="icon-button secondary" aria-label="Search">${icon('search')}</button>
      </form>
      ${alertsSwitch()}
      ${shortcutsButton()}
      ${filterForm(parts.place, parts.inbox.members)}
    </div>
    <div
      id="list"
      class="live"
      data-live
      hx-get=${hrefAt('/conversations/list', parts.place, { open: parts.openId })}
      hx-trigger=${reloadsOn('conversations')}
    >
      ${listFragment(parts)}
    </div>
  </section>
`;

/** Approvals cannot be searched: a search from there looks in all conversations. */
const searchedTab = ({ tab }: InboxPlace) =>
  tab === 'all' || tab === 'approvals' ? undefined : tab;

/** Switches notifications and a sound in this browser. alerts.js shows the button. */
const alertsSwitch = (): View => html`
  <button
    type="button"
    id="alerts-switch"
    class="icon-button secondary"
    hidden
    aria-pressed="false"
    aria-label="Notify me"
    title="Notification and sound when a customer begins to wait for an answer"
  >
    ${icon('bell')}
  </button>
`;

/** The tabs and a page of the list. Links have ids, so that the focus survives a reload. */
export const listFragment = (parts: ListParts): View => {
  const { inbox, place, isWhole = true } = parts;
  const shown = isWhole ? inbox.items : inbox.items.slice(0, FIRST_ROWS);
  return html`
  ${tabs(place, inbox.counts)}
  <div
    class="items"
    id="items"
    data-keep-scroll=${hrefAt('/conversations', place)}
    tabindex="0"
    role="region"
    aria-label=${TAB_LABELS[place.tab]}
  >
    ${
      place.after === null
        ? null
        : html`
          <p class="pager">
            <a id="list-newest" href=${hrefAt('/conversations', { ...place, after: null })}>
              ${newestInWords(place)}
            </a>
          </p>
        `
    }
    ${inbox.items.length === 0 && inbox.next === null ? emptyList(place) : null}
    <ul class="bare">
      ${shown.map((item) => html`<li>${itemView(item, parts)}</li>`)}
    </ul>
    ${
      shown.length === inbox.items.length
        ? null
        : moreRows(parts, inbox.items.length - shown.length)
    }
    ${
      inbox.stoppedEarly
        ? html`
          <p class="muted pager">
            ${MAX_SEARCHED.toLocaleString('en')} conversations or messages were searched, newest first.
          </p>
        `
        : null
    }
    ${
      inbox.next === null
        ? null
        : html`
          <p class="pager">
            <a id="list-older" href=${hrefAt('/conversations', { ...place, after: inbox.next })}>
              ${inbox.stoppedEarly ? 'Search older conversations' : olderInWords(place)}
            </a>
          </p>
        `
    }
  </div>
`;
};

const moreRows = ({ place, openId }: ListParts, count: number): View => html`
  <p class="pager">
    <a
      id="list-more"
      href=${hrefAt('/conversations', place, { rows: 'all' })}
      hx-get=${hrefAt('/conversations/list', place, { open: openId })}
      hx-target="#list"
      hx-push-url="false"
      hx-trigger="click, intersect once"
    >
      ${count} more
    </a>
  </p>
`;

const newestInWords = ({ tab }: InboxPlace) =>
  tab === 'waiting' ? 'Back to those who wait longest' : 'Back to the newest conversations';

const olderInWords = ({ tab }: InboxPlace) =>
  tab === 'waiting' ? 'More waiting customers' : 'Older conversations';

const counted = (count: number) => countInWords(count, MAX_COUNTED);

function tabs(place: InboxPlace, counts: InboxCounts): View {
  const { tab: current } = place;
  const { approvals } = counts;
  const link = (tab: InboxTab, count: number) => html`
    <li>
      <a
        id=${`tab-${tab}`}
        href=${hrefAt('/conversations', inTab(place, tab))}
        aria-current=${tab === current ? 'page' : null}
      >
        ${TAB_LABELS[tab]}
        ${count === 0 ? null : html`${' '}<b class="count">${counted(count)}</b>`}
      </a>
    </li>
  `;
  const approvalsLabel =
    approvals === 1
      ? '1 approval is waiting for your decision'
      : `${counted(approvals)} approvals are waiting for your decision`;
  return html`
    <nav class="tabs" aria-label="Filter conversations">
      <ul>
        ${TABS.map((tab) => link(tab, tab in counts ? counts[tab as keyof InboxCounts] : 0))}
      </ul>
    </nav>
    ${
      approvals === 0 && current !== 'approvals'
        ? null
        : html`
          <p class="approvals-line">
            <a
              id="tab-approvals"
              href=${hrefAt('/conversations', placeOfTab('approvals'))}
              aria-current=${current === 'approvals' ? 'page' : null}
            >
              ${approvals === 0 ? 'No approvals are waiting' : approvalsLabel}
            </a>
          </p>
        `
    }
  `;
}

/** The same search and filter in another tab. Only the list of all has a filter by status. */
const inTab = ({ search, filter }: InboxPlace, tab: InboxTab): InboxPlace => ({
  tab,
  search,
  filter: tab === 'all' ? filter : { ...filter, status: null },
  after: null,
});

const placeOfTab = (tab: InboxTab): InboxPlace => ({
  tab,
  search: '',
  filter: NO_FILTER,
  after: null,
});

/** Two lines: who and when, their words and one status. */
function itemView(item: InboxItem, { place, openId, signedIn, now }: ListParts): View {
  const { conversation, contact } = item;
  const memberId = signedIn.member.id;
  const isOpen = conversation.id === openId;
  const unread = isOpen ? 0 : item.unread;
  const { waitingSince, updatedAt } = conversation;
  const time = place.tab === 'waiting' ? (waitingSince ?? updatedAt) : updatedAt;
  return html`
    <a
      id=${`item-${conversation.id}`}
      class=${unread > 0 ? 'item unread' : 'item'}
      href=${itemHref(item, place)}
      aria-current=${isOpen ? 'true' : null}
    >
      ${avatar(customerName(contact))}
      <span class="item-line">
        <bdi class="who">${customerName(contact)}</bdi>
        ${
          unread === 0
            ? null
            : html`<span class="dot"><span class="visually-hidden">${unread} unread</span></span>`
        }
        ${shortTimeView(time, now)}
      </span>
      <span class="item-line">
        <span class="preview"><bdi>${previewView(item)}</bdi></span>
        ${rowStatus(item, memberId)}
        ${statusNamesAssignee(conversation) ? null : assigneeView(conversation, memberId)}
      </span>
    </a>
  `;
}

/** Whether `rowStatus` names the assignee already, as the member in control. */
const statusNamesAssignee = (conversation: Conversation): boolean =>
  conversation.status === 'human_active' &&
  conversation.assigneeId === conversation.takenBy &&
  !isCustomerWaiting(conversation);

/** Who looks after the conversation. */
function assigneeView({ assignee }: Conversation, memberId: string): View {
  if (!assignee) return null;
  const words = `Assigned to ${assignee.id === memberId ? 'you' : assignee.name}`;
  return html`
    <span class="assignee" title=${words}>
      ${avatar(assignee.name)}
      <span class="visually-hidden">${words}</span>
    </span>
  `;
}

function previewView({ conversation, shownMessage, match }: InboxItem): View {
  if (match !== null) return html`${previewPrefix(match.message)}${matchView(match)}`;
  if (shownMessage === null) return 'No messages yet';
  const words = messageInWords(shownMessage, conversation.channel);
  return `${previewPrefix(shownMessage)}${beginningOf(words, MAX_PREVIEW_CHARACTERS)}`;
}

const previewPrefix = ({ sender: { type, name } }: Message) =>
  type === 'customer' ? '' : `${name}: `;

/** No screen shows more. */
const MAX_PREVIEW_CHARACTERS = 90;

const EMPTY: Readonly<Record<InboxTab, View>> = {
  all: html`No conversations yet. Customers write at <a href="/chat">/chat</a>; their messages appear here. To answer them from n8n, start with an <a href="/examples">example workflow</a>.`,
  agent: html`The agent has no conversations right now. It answers new messages while it is on: see <a href="/agent">Agent</a>.`,
  waiting:
    'No customer is waiting for an answer. A conversation comes here when the agent hands it over, or when the customer writes and the agent does not answer, and stays until your team replies or closes it.',
  mine: 'You have no conversations. A conversation becomes yours when you take it over, reply in it, or a colleague assigns it to you.',
  closed:
    'No closed conversations yet. A conversation comes here when somebody, the agent or a workflow closes it. If its customer writes again, a new one begins.',
  approvals:
    'No tool calls are waiting for a decision. A call comes here when its tool asks before it runs; that is chosen in the tool’s definition.',
};

function emptyList(place: InboxPlace): View {
  const { tab, search, filter } = place;
  if (search === '' && !isFiltered(filter)) return html`<p class="empty">${EMPTY[tab]}</p>`;
  const found = search === '' ? 'No conversations' : html`No results for “<bdi>${search}</bdi>”`;
  const link = (words: string, wider: InboxPlace) =>
    html`<a href=${hrefAt('/conversations', wider)}>${words}</a>`;
  return html`
    <p class="empty">
      ${found}
      ${tab === 'all' ? '' : ` in “${TAB_LABELS[tab]}”`}
      ${isFiltered(filter) ? ' with this filter' : ''}.${' '}
      ${
        search === ''
          ? link('Clear the filter', placeOfTab(tab))
          : tab === 'all'
            ? link('Show all conversations', placeOfTab('all'))
            : link('Search all conversations', { ...placeOfTab('all'), search })
      }
    </p>
  `;
}
