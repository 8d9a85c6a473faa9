import { decodeTime, encodeTime, TIME_MAX } from 'ulid';
import { timestamp } from '../../platform/clock.ts';
import {
  MAX_SEARCHED,
  type Position,
  searchPage,
  type SearchedPage,
} from '../../platform/http/searchPage.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Tx } from '../../store/collections.ts';
import type { Contact } from '../contact.ts';
import { ofContacts, shownMatcher } from '../contacts/contactSearch.ts';
import { isCustomerWaiting, type Conversation, positionOf } from '../conversation.ts';
import type { Message } from '../message.ts';
import { findConversationsOf, findNewestMessages } from '../operations/conversations.ts';
import { wordsOfContact } from './contactWords.ts';
import { matchesQuery, readWordQuery, type WordQuery } from './wordQuery.ts';
import { wordsOf } from './words.ts';

type Fields = Partial<
  Pick<Conversation, 'status' | 'channel' | 'funnelStage' | 'takenBy' | 'assigneeId'>
>;

export interface ConversationSearch {
  readonly workspaceId: string;
  /** As somebody typed it: a name, a phone, an e-mail, or what was said. */
  readonly typed: string;
  /** Alternatives: a conversation has all the fields of at least one. */
  readonly fields: readonly Fields[];
  /** Only those whose customers wait for the team. */
  readonly onlyWaiting: boolean;
  readonly after: Position | null;
  readonly limit: number;
}

interface FoundConversation {
  readonly conversation: Conversation;
  /** The newest message that matches; null when the contact does. */
  readonly message: Message | null;
}

interface Placed extends FoundConversation {
  readonly position: Position;
}

type Found = SearchedPage<Placed>;

const NOTHING: Found = { items: [], next: null, stoppedEarly: false };

/** Messages that are read at once. */
const CHUNK = 250;
/** If more contacts match, the conversations are looked through instead. */
const MAX_CONTACTS = 200;

/**
 * Finds the conversations of contacts that match, and those in which a message matches: the newest
 * match first. The time of a contact's match is that of the conversation's last change.
 */
export async function searchConversations(
  tx: Tx,
  search: ConversationSearch,
): Promise<Omit<Found, 'items'> & { readonly items: readonly FoundConversation[] }> {
  const { typed, limit } = search;
  // Somebody typed a masked label, as n8n and the API show it.
  if (typed.includes('•')) return scanConversations(tx, search, shownMatcher(typed));
  const query = readWordQuery(typed);
  if (query.length === 0) return NOTHING;
  const named = await findNamed(tx, search, query);
  const said = await findSaid(tx, search, query);
  // Down to here, both searches found everything.
  const completeTo = newest(named.next, said.next);
  const items = [...named.items, ...said.items]
    .filter(({ position }) => completeTo === null || !isBehind(position, completeTo))
    .sort((a, b) => compare(b.position, a.position));
  const next = items.length > limit ? items[limit - 1]!.position : completeTo;
  const stoppedEarly = items.length < limit && (named.stoppedEarly || said.stoppedEarly);
  return { items: items.slice(0, limit), next, stoppedEarly };
}

async function findNamed(tx: Tx, search: ConversationSearch, query: WordQuery): Promise<Found> {
  const { workspaceId, after, limit } = search;
  const contacts = await tx.contacts.search({
    within: workspaceId,
    allOf: query,
    limit: MAX_CONTACTS + 1,
  });
  if (contacts.length > MAX_CONTACTS) return scanConversations(tx, search, matcherOf(query));
  const conversations = await findConversationsOf(
    tx,
    contacts.map(({ id }) => id),
  );
  const items = conversations
    .filter((conversation) => isWanted(conversation, search))
    .map(placedByChange)
    .filter(({ position }) => after === null || isBehind(position, after))
    .sort((a, b) => compare(b.position, a.position));
  return {
    items: items.slice(0, limit),
    next: items.length > limit ? items[limit - 1]!.position : null,
    stoppedEarly: false,
  };
}

const matcherOf = (query: WordQuery) => (contact: Contact) =>
  matchesQuery(query, wordsOfContact(contact));

/** Looks through the conversations, the last changed first. */
async function scanConversations(
  tx: Tx,
  search: ConversationSearch,
  matches: (contact: Contact) => boolean,
): Promise<Found> {
  const { workspaceId, fields, after, limit } = search;
  const found: SearchedPage<Conversation> = await searchPage(
    {
      find: (query) =>
        tx.conversations.find({
          where: { workspaceId, ...(fields.length === 1 && fields[0]) },
          orderBy: 'updatedAt',
          direction: 'desc',
          ...query,
        }),
      positionOf,
      matching: async (conversations) =>
        ofContacts(
          tx,
          matches,
        )(conversations.filter((conversation) => isWanted(conversation, search))),
    },
    limit,
    after === null ? {} : { after },
  );
  return { ...found, items: found.items.map(placedByChange) };
}

/** Finds the conversations in which a message matches, except those whose contact matches. */
async function findSaid(tx: Tx, search: ConversationSearch, query: WordQuery): Promise<Found> {
  const { workspaceId, after, limit } = search;
  const items: Placed[] = [];
  const seen = new Set<string>();
  let next = after;
  for (let lookedAt = 0; lookedAt < MAX_SEARCHED; lookedAt += CHUNK) {
    const messages = await tx.messages.search({
      within: workspaceId,
      allOf: query,
      limit: CHUNK,
      ...(next === null ? {} : { before: idAt(next) }),
    });
    const newestOfEach = messages.filter(({ conversationId }) => {
      const isNew = !seen.has(conversationId);
      seen.add(conversationId);
      return isNew;
    });
    const found = await Promise.all(
      newestOfEach.map((message) => placedByMessage(tx, search, query, message)),
    );
    items.push(...found.filter((each) => each !== null));
    if (items.length > limit)
      return {
        items: items.slice(0, limit),
        next: items[limit - 1]!.position,
        stoppedEarly: false,
      };
    if (messages.length < CHUNK) return { items, next: null, stoppedEarly: false };
    next = positionOfMessage(messages.at(-1)!);
  }
  return { items, next, stoppedEarly: true };
}

/** Null when the conversation is not wanted or on an earlier page, or when its contact matches. */
async function placedByMessage(
  tx: Tx,
  search: ConversationSearch,
  query: WordQuery,
  message: Message,
): Promise<Placed | null> {
  const { workspaceId, after } = search;
  const conversation = await tx.conversations.peek(message.conversationId);
  if (conversation?.workspaceId !== workspaceId || !isWanted(conversation, search)) return null;
  const contact = await tx.contacts.peek(conversation.contactId);
  if (contact === null || matcherOf(query)(contact)) return null;
  if (after !== null && (await hasNewer(tx, query, message, conversation))) return null;
  return { conversation, message, position: positionOfMessage(message) };
}

/** Whether a later message matches too: then an earlier page has the conversation. */
async function hasNewer(
  tx: Tx,
  query: WordQuery,
  { conversationId, number }: Message,
  { messageCount }: Conversation,
): Promise<boolean> {
  if (messageCount <= number) return false;
  const later = await findNewestMessages(tx, conversationId, messageCount - number);
  return later.some((each) => each.number > number && matchesQuery(query, wordsOf(each.text)));
}

const isWanted = (
  conversation: Conversation,
  { fields, onlyWaiting }: Pick<ConversationSearch, 'fields' | 'onlyWaiting'>,
): boolean =>
  fields.some((alternative) => hasFields(conversation, alternative)) &&
  (!onlyWaiting || isCustomerWaiting(conversation));

const hasFields = (conversation: Conversation, fields: Fields): boolean =>
  Object.entries(fields).every(
    ([name, value]) => (conversation[name as keyof Fields] ?? null) === (value ?? null),
  );

const placedByChange = (conversation: Conversation): Placed => ({
  conversation,
  message: null,
  position: positionOf(conversation),
});

const TIME_AT = 'msg_'.length;

/** By the time in the message's id, since a search finds messages in the order of their ids. */
const positionOfMessage = ({ id }: Message): Position => ({
  value: timestamp(new Date(decodeTime(id.slice(TIME_AT)))),
  id,
});

/** Messages before the position have lower ids. A conversation's position gives only the time. */
const idAt = ({ value, id }: Position): string =>
  id.startsWith('msg_') ? id : `msg_${encodeTime(Math.min(Date.parse(value), TIME_MAX))}`;

const compare = (a: Position, b: Position): number =>
  compareText(a.value, b.value) || compareText(a.id, b.id);

const isBehind = (position: Position, after: Position): boolean => compare(position, after) < 0;

const newest = (a: Position | null, b: Position | null): Position | null => {
  if (a === null || b === null) return a ?? b;
  return compare(a, b) > 0 ? a : b;
};
