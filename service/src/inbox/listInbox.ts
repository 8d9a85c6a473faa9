import type { Tx } from '../store/collections.ts';
import {
  type Contact,
  type Conversation,
  excerptOf,
  type Excerpt,
  readWordQuery,
  type WordQuery,
  searchConversations,
  idOfReadMark,
  unreadOf,
  type Message,
  findNewestMessages,
  withShownContacts,
  type ConversationView,
} from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import type { InboxFilter } from './filter.ts';
import { fieldsIn, findInTab } from './findInTab.ts';
import { messageInWords } from './messageWords.ts';
import { fieldsOfTab, orderOfTab, type InboxTab, type ListTab } from './tabs.ts';
import { type Position, searchPage } from '../platform/http/searchPage.ts';
import type { Member } from '../team/index.ts';

export interface InboxItem extends Omit<ConversationView, 'workspace'> {
  /** The customer's last words where the agent spoke last, else the last message. */
  readonly shownMessage: Message | null;
  /** Whether the last message to the customer was not delivered. */
  readonly hasFailed: boolean;
  /** Messages of the customer that this member has not seen. */
  readonly unread: number;
  /** The name of the member in control; null when no member is. */
  readonly takenByName: string | null;
  /** The message that matches a search; null without a search, or when the contact matches. */
  readonly match: Match | null;
}

export interface Match {
  readonly message: Message;
  readonly excerpt: Excerpt;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Where the next page begins; null on the last one. */
  readonly next: Position | null;
  /** A search ended here before it had seen everything; `next` says where it goes on. */
  readonly stoppedEarly: boolean;
  readonly counts: InboxCounts;
  /** The team, for the filter by assignee. */
  readonly members: readonly Member[];
}

/** Each at most `MAX_COUNTED`. */
export type InboxCounts = Readonly<Record<CountedTab, number>>;

/** The tabs that say how much there is to do. */
const COUNTED_TABS = ['agent', 'waiting', 'mine', 'approvals'] as const;
type CountedTab = (typeof COUNTED_TABS)[number];

/** Where a member is in the list. Links keep it from one conversation to the next. */
export interface InboxPlace {
  readonly tab: InboxTab;
  /** A name, a phone number, an e-mail, or what was said; empty for no search. */
  readonly search: string;
  readonly filter: InboxFilter;
  readonly after: Position | null;
}

export const INBOX_PAGE = 50;
export const MAX_COUNTED = 100;
const MAX_MEMBERS = 1000;

/**
 * A page of the team's list for one member, with how much is in each tab. The last changed comes
 * first; in the tab `waiting`, the one whose customer has waited longest.
 */
export const listInbox = ({ store }: Pick<Deps, 'store'>, member: Member, place: InboxPlace) =>
  store.transaction(async (tx): Promise<Inbox> => {
    const found =
      place.tab === 'approvals'
        ? await waitingApprovals(tx, member)
        : await searchTab(tx, member, place, place.tab);
    const items: InboxItem[] = [];
    const words = readWordQuery(place.search);
    for (const [conversation, contact] of await withShownContacts(tx, found.conversations)) {
      const message = found.messages?.get(conversation.id);
      const match = message ? matchOf(words, message, conversation) : null;
      items.push({ ...(await viewItem(tx, conversation, contact, member)), match });
    }
    return {
      items,
      next: found.next,
      stoppedEarly: found.stoppedEarly,
      members: await tx.members.find({
        where: { workspaceId: member.workspaceId },
        limit: MAX_MEMBERS,
      }),
      counts: await countTabs(tx, member),
    };
  });

const matchOf = (words: WordQuery, message: Message, { channel }: Conversation): Match => ({
  message,
  excerpt: excerptOf(words, messageInWords(message, channel)),
});

interface Found {
  readonly conversations: readonly Conversation[];
  /** The messages that match a search, by the id of their conversation. */
  readonly messages?: ReadonlyMap<string, Message>;
  readonly next: Position | null;
  readonly stoppedEarly: boolean;
}

async function searchTab(
  tx: Tx,
  member: Member,
  { search, filter, after }: InboxPlace,
  tab: ListTab,
): Promise<Found> {
  const { workspaceId } = member;
  const fields = fieldsIn(tab, filter, member.id);
  const onlyWaiting = tab === 'waiting';
  if (search !== '')
    return findSearched(tx, { workspaceId, typed: search, fields, onlyWaiting, after });
  const { positionOf } = orderOfTab(tab);
  const { items, ...rest } = await searchPage(
    {
      find: (query) => findInTab(tx, workspaceId, tab, fields, query),
      positionOf,
    },
    INBOX_PAGE,
    after === null ? {} : { after },
  );
  return { conversations: items, ...rest };
}

async function findSearched(
  tx: Tx,
  search: Omit<Parameters<typeof searchConversations>[1], 'limit'>,
): Promise<Found> {
  const { items, ...rest } = await searchConversations(tx, { ...search, limit: INBOX_PAGE });
  return {
    conversations: items.map(({ conversation }) => conversation),
    messages: new Map(
      items.flatMap(({ conversation, message }) => (message ? [[conversation.id, message]] : [])),
    ),
    ...rest,
  };
}

/** The conversations in which a tool call waits for a decision, the longest waiting first. */
async function waitingApprovals(tx: Tx, { workspaceId }: Member): Promise<Found> {
  const calls = await tx.toolCalls.find({
    where: { workspaceId, status: 'pending_approval' },
    limit: MAX_COUNTED,
  });
  const conversations: Conversation[] = [];
  for (const id of new Set(calls.map(({ conversationId }) => conversationId))) {
    const conversation = id === null ? null : await tx.conversations.peek(id);
    if (conversation) conversations.push(conversation);
  }
  return { conversations, next: null, stoppedEarly: false };
}

async function viewItem(
  tx: Tx,
  conversation: Conversation,
  contact: Contact,
  member: Member,
): Promise<Omit<InboxItem, 'match'>> {
  const newest = await findNewestMessages(tx, conversation.id, MAX_LOOKED_AT);
  const mark = await tx.readMarks.peek(idOfReadMark(member.id, conversation.id));
  return {
    conversation,
    contact,
    shownMessage: shownOf(newest),
    hasFailed: (await findLastOutbound(tx, conversation.id, newest))?.delivery?.state === 'failed',
    unread: unreadOf(conversation, mark?.customerMessages ?? 0),
    takenByName: await nameOfTaker(tx, conversation),
  };
}

/** How many of the newest messages are read at first. */
const MAX_LOOKED_AT = 6;
/** How many are searched for the last one to the customer, if all of those are from the customer. */
const MAX_SEARCHED_FOR_OUTBOUND = 100;

const isOutbound = ({ direction }: Message) => direction === 'outbound';

async function findLastOutbound(
  tx: Tx,
  conversationId: string,
  newest: readonly Message[],
): Promise<Message | undefined> {
  const found = newest.find(isOutbound);
  if (found || newest.length < MAX_LOOKED_AT) return found;
  return (await findNewestMessages(tx, conversationId, MAX_SEARCHED_FOR_OUTBOUND)).find(isOutbound);
}

/** @param newest the last one first */
function shownOf(newest: readonly Message[]): Message | null {
  const [last = null] = newest;
  if (last?.sender.type !== 'agent') return last;
  return newest.find(({ direction }) => direction === 'inbound') ?? last;
}

/** The name of the member in control; null when there is none, or they were removed. */
export async function nameOfTaker(tx: Tx, { takenBy }: Conversation): Promise<string | null> {
  const member = (takenBy ?? null) === null ? null : await tx.members.peek(takenBy!);
  return member?.name ?? null;
}

async function countTabs(tx: Tx, member: Member): Promise<InboxCounts> {
  const counts = await Promise.all(COUNTED_TABS.map((tab) => countTab(tx, member, tab)));
  return Object.fromEntries(COUNTED_TABS.map((tab, at) => [tab, counts[at]])) as InboxCounts;
}

async function countTab(tx: Tx, { id, workspaceId }: Member, tab: CountedTab): Promise<number> {
  const found =
    tab === 'approvals'
      ? await tx.toolCalls.find({
          where: { workspaceId, status: 'pending_approval' },
          limit: MAX_COUNTED,
        })
      : await findInTab(tx, workspaceId, tab, fieldsOfTab(tab, id), { limit: MAX_COUNTED });
  return found.length;
}

/** How many customers wait for the team, at most `MAX_COUNTED`. */
export const countWaitingConversations = ({ store }: Pick<Deps, 'store'>, member: Member) =>
  store.transaction((tx) => countTab(tx, member, 'waiting'));

/**
 * The id of the conversation whose customer has waited longest; null when none waits. Conversations
 * that a colleague has come last.
 * @param from the id of the open conversation. If it waits too, the result is the next one behind
 * it, and the open one itself only if no other waits
 */
export const findNextWaiting = ({ store }: Pick<Deps, 'store'>, member: Member, from: unknown) =>
  store.transaction(async (tx): Promise<string | null> => {
    const { workspaceId, id: memberId } = member;
    const fields = fieldsOfTab('waiting', memberId);
    const waiting = await findInTab(tx, workspaceId, 'waiting', fields, { limit: MAX_COUNTED });
    const afterOpen = waiting.findIndex(({ id }) => id === from) + 1;
    const inTurn = [...waiting.slice(afterOpen), ...waiting.slice(0, afterOpen)];
    const others = inTurn.filter(({ id }) => id !== from);
    const next = others.find((each) => !isWithColleague(each, memberId)) ?? others[0] ?? inTurn[0];
    return next?.id ?? null;
  });

const isWithColleague = ({ status, takenBy = null }: Conversation, memberId: string): boolean =>
  status === 'human_active' && takenBy !== null && takenBy !== memberId;
