import type { Deps } from '../../platform/deps.ts';
import { AppError } from '../../platform/http/errorCatalogue.ts';
import type { From, Page } from '../../platform/http/page.ts';
import { searchPage, type Position, type Search } from '../../platform/http/searchPage.ts';
import { timestamp } from '../../platform/clock.ts';
import { compareText } from '../../platform/compareText.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import {
  ofContacts,
  readContactSearch,
  shownMatcher,
  type ContactSearch,
} from '../contacts/contactSearch.ts';
import { findByDetail } from '../contacts/findByDetail.ts';
import type { Conversation } from '../conversation.ts';
import {
  findConversationsOf,
  MAX_CONTACTS,
  withShownContacts,
  type ConversationView,
} from './conversations.ts';

type Fields = Partial<Pick<Conversation, 'status' | 'channel' | 'funnelStage' | 'contactId'>>;

/** Which conversations are wanted. Times are as stored. */
interface ConversationFilter {
  readonly fields: Fields;
  /** A whole phone number or e-mail of the contact, or a part of their name; empty for all. */
  readonly q: string;
  readonly createdSince?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedSince?: string | undefined;
}

type Order = 'id' | 'createdAt' | 'updatedAt';

/**
 * Lists the workspace's conversations: newest first, or with `updatedSince` the last changed first.
 * A page may have fewer items than `limit` although more follow, since no call looks at everything.
 * @param cursor undefined for the first page
 * @throws invalid_request (400) for a cursor that this list did not give out
 */
export const listConversations = (
  { store }: Deps,
  workspace: Workspace,
  filter: ConversationFilter,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
) =>
  store.transaction(async (tx): Promise<Page<ConversationView>> => {
    const order = orderOf(filter);
    const search = await searchOf(tx, workspace, filter, order);
    const found = await searchPage(search, limit, startOf(filter, order, cursor));
    const items = (await withShownContacts(tx, found.items)).map(([conversation, contact]) => ({
      workspace,
      conversation,
      contact,
    }));
    return { items, nextCursor: found.next && cursorOf(found.next, order) };
  });

/** Orders by the time that the filter limits, so that an index finds where the list begins. */
function orderOf({ updatedSince, createdSince, createdBefore }: ConversationFilter): Order {
  if (updatedSince !== undefined) return 'updatedAt';
  return createdSince !== undefined || createdBefore !== undefined ? 'createdAt' : 'id';
}

async function searchOf(
  tx: Tx,
  workspace: Workspace,
  filter: ConversationFilter,
  order: Order,
): Promise<Search<Conversation>> {
  const contact = filter.q.trim() === '' ? null : readContactSearch(filter.q);
  const where = { workspaceId: workspace.id, ...filter.fields };
  const positionOf = (conversation: Conversation) => ({
    value: conversation[order],
    id: conversation.id,
  });
  const keepByContact =
    contact !== null && 'text' in contact ? ofContacts(tx, shownMatcher(contact.text)) : null;
  const known = await conversationsOf(tx, workspace, filter, contact);
  const needsCheck =
    known !== null ||
    keepByContact !== null ||
    filter.createdBefore !== undefined ||
    (filter.createdSince !== undefined && order !== 'createdAt');
  return {
    positionOf,
    find: async (query) =>
      known === null
        ? tx.conversations.find({ where, orderBy: order, direction: 'desc', ...query })
        : pageOfKnown(known, order, query),
    isPast: (conversation) => isBefore(conversation, filter, order),
    ...(needsCheck && {
      matching: async (conversations: readonly Conversation[]) => {
        const wanted = conversations.filter((each) => agrees(each, filter));
        return keepByContact === null ? wanted : keepByContact(wanted);
      },
    }),
  };
}

/** All conversations of the contacts that the filter names; null when it names none. */
async function conversationsOf(
  tx: Tx,
  workspace: Workspace,
  { fields }: ConversationFilter,
  search: ContactSearch | null,
): Promise<readonly Conversation[] | null> {
  let contactIds = fields.contactId === undefined ? null : [fields.contactId];
  if (search !== null && !('text' in search)) {
    const found = await findByDetail(tx, workspace, search, { limit: MAX_CONTACTS });
    const ids = found.map(({ id }) => id);
    contactIds = contactIds === null ? ids : ids.filter((id) => id === fields.contactId);
  }
  if (contactIds === null) return null;
  const found = await findConversationsOf(tx, contactIds);
  return found.filter((each) => each.workspaceId === workspace.id);
}

function pageOfKnown(
  known: readonly Conversation[],
  order: Order,
  { limit, after }: { limit: number } & From,
): readonly Conversation[] {
  const isBehind = (each: Conversation) =>
    after === undefined ||
    each[order] < after.value ||
    (after.id !== undefined && each[order] === after.value && each.id < after.id);
  return known
    .filter(isBehind)
    .toSorted((a, b) =>
      a[order] === b[order] ? compareText(b.id, a.id) : compareText(b[order], a[order]),
    )
    .slice(0, limit);
}

/** Whether this conversation and all that follow in the order are too old. */
const isBefore = (
  { createdAt, updatedAt }: Conversation,
  { createdSince, updatedSince }: ConversationFilter,
  order: Order,
): boolean =>
  (order === 'updatedAt' && updatedAt < updatedSince!) ||
  (order === 'createdAt' && createdSince !== undefined && createdAt < createdSince);

/** Whether a conversation meets the conditions that the index does not check. */
const agrees = (
  conversation: Conversation,
  { fields, createdSince = '', createdBefore }: ConversationFilter,
): boolean =>
  conversation.createdAt >= createdSince &&
  (createdBefore === undefined || conversation.createdAt < createdBefore) &&
  Object.entries(fields).every(([name, value]) => conversation[name as keyof Fields] === value);

/** In the order of ids a cursor is an id; otherwise the time in milliseconds stands before it. */
const cursorOf = ({ value, id }: Position, order: Order): string =>
  order === 'id' ? id : `${Date.parse(value)}_${id}`;

function startOf({ createdBefore }: ConversationFilter, order: Order, cursor?: string): From {
  if (cursor !== undefined) return { after: positionAt(cursor, order) };
  return order === 'createdAt' && createdBefore !== undefined
    ? { after: { value: createdBefore } }
    : {};
}

function positionAt(cursor: string, order: Order): Position {
  const [, time, id] = /^(?:(\d{1,15})_)?(conv_[0-9A-Z]{26})$/.exec(cursor) ?? [];
  if (id === undefined || (time === undefined) !== (order === 'id'))
    throw new AppError(
      'invalid_request',
      'cursor is not one that this list gave out. Use next_cursor of the page before, with the same filters.',
      { param: 'cursor' },
    );
  return { value: time === undefined ? id : timestamp(new Date(Number(time))), id };
}
