import type { Tx } from '../store/collections.ts';
import {
  type Contact,
  type Conversation,
  excerptOf,
  type Excerpt,
  positionOf,
  readWordQuery,
  searchConversations,
  type InboxPosition,
  readMarkId,
  unreadOf,
  type Message,
  findNewestMessages,
  withContacts,
  type ConversationView,
} from '../conversations/index.ts';
import type { Deps } from '../platform/deps.ts';
import { filterOfTab, type InboxTab } from './tabs.ts';
import { searchPage } from '../platform/http/searchPage.ts';
import type { Member } from '../team/index.ts';

export interface InboxItem extends Omit<ConversationView, 'workspace'> {
  readonly lastMessage: Message | null;
  /** Messages of the customer that this member has not seen. */
  readonly unread: number;
  /** The member who has it; null when nobody of the team has. */
  readonly takenByName: string | null;
  /** What was searched for and said; null when the contact matches. */
  readonly match: Match | null;
}

export interface Match {
  readonly message: Message;
  readonly excerpt: Excerpt;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Where the next page begins; null on the last one. */
  readonly next: InboxPosition | null;
  /** A search ended here before it had seen everything; `next` says where it goes on. */
  readonly stoppedEarly: boolean;
  readonly counts: InboxCounts;
}

/** Each at most `MAX_COUNTED`. */
export interface InboxCounts {
  readonly waiting: number;
  readonly approvals: number;
}

export interface InboxQuery {
  readonly tab: InboxTab;
  /** A name, a phone number, an e-mail, or what was said; empty for no search. */
  readonly search: string;
  readonly after: InboxPosition | null;
}

export const INBOX_PAGE = 50;
export const MAX_COUNTED = 100;

/**
 * A page of the team's list for one member, the last changed first, with what waits for a person.
 */
export const listInbox = ({ store }: Pick<Deps, 'store'>, member: Member, query: InboxQuery) =>
  store.transaction(async (tx): Promise<Inbox> => {
    const found =
      query.tab === 'approvals'
        ? await waitingApprovals(tx, member)
        : await searchTab(tx, member, query, query.tab);
    const items: InboxItem[] = [];
    const words = readWordQuery(query.search);
    for (const [conversation, contact] of await withContacts(tx, found.conversations)) {
      const message = found.messages?.get(conversation.id);
      const match = message ? { message, excerpt: excerptOf(words, message.text) } : null;
      items.push({ ...(await viewItem(tx, conversation, contact, member)), match });
    }
    return {
      items,
      next: found.next,
      stoppedEarly: found.stoppedEarly,
      counts: await countWaiting(tx, member.workspaceId),
    };
  });

interface Found {
  readonly conversations: readonly Conversation[];
  /** By conversation, those that match a search. */
  readonly messages?: ReadonlyMap<string, Message>;
  readonly next: InboxPosition | null;
  readonly stoppedEarly: boolean;
}

async function searchTab(
  tx: Tx,
  member: Member,
  { search, after }: InboxQuery,
  tab: Exclude<InboxTab, 'approvals'>,
): Promise<Found> {
  const { workspaceId } = member;
  const fields = filterOfTab(tab, member.id);
  if (search !== '') return findSearched(tx, { workspaceId, typed: search, fields, after });
  const { items, ...rest } = await searchPage(
    {
      find: (query) =>
        tx.conversations.find({
          where: { workspaceId, ...fields },
          orderBy: 'updatedAt',
          direction: 'desc',
          ...query,
        }),
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
  const [lastMessage = null] = await findNewestMessages(tx, conversation.id, 1);
  const mark = await tx.readMarks.peek(readMarkId(member.id, conversation.id));
  return {
    conversation,
    contact,
    lastMessage,
    unread: unreadOf(conversation, mark?.customerMessages ?? 0),
    takenByName: await nameOfTaker(tx, conversation),
  };
}

/** Who of the team has a conversation; null when nobody has, or the member was removed. */
export async function nameOfTaker(tx: Tx, { takenBy }: Conversation): Promise<string | null> {
  const member = (takenBy ?? null) === null ? null : await tx.members.peek(takenBy!);
  return member?.name ?? null;
}

async function countWaiting(tx: Tx, workspaceId: string): Promise<InboxCounts> {
  const waiting = await tx.conversations.find({
    where: { workspaceId, status: 'awaiting_human' },
    limit: MAX_COUNTED,
  });
  const approvals = await tx.toolCalls.find({
    where: { workspaceId, status: 'pending_approval' },
    limit: MAX_COUNTED,
  });
  return { waiting: waiting.length, approvals: approvals.length };
}
