import type { Conversation } from '../conversations/index.ts';
import type { Tx } from '../store/collections.ts';
import type { Query } from '../store/store.ts';
import { fieldsOfFilter, type InboxFilter } from './filter.ts';
import { fieldsOfTab, orderOfTab, type ListTab, type TabFields } from './tabs.ts';

type Fields = TabFields & Partial<Pick<Conversation, 'channel' | 'funnelStage'>>;

/** As `fieldsOfTab`, for the conversations that pass the filter. */
export function fieldsIn(tab: ListTab, filter: InboxFilter, memberId: string): readonly Fields[] {
  const wanted = fieldsOfFilter(filter);
  return fieldsOfTab(tab, memberId)
    .filter(({ assigneeId }) => !assigneeId || !filter.assignee || assigneeId === filter.assignee)
    .map((fields) => ({ ...wanted, ...fields }));
}

type Page = Pick<Query<Conversation>, 'after' | 'limit'>;

/** A page of a tab in its order. A conversation that fits several alternatives is there once. */
export async function findInTab(
  tx: Tx,
  workspaceId: string,
  tab: ListTab,
  alternatives: readonly Fields[],
  page: Page,
): Promise<readonly Conversation[]> {
  const { positionOf, ...order } = orderOfTab(tab);
  const { limit, after = order.after } = page;
  const lists = await Promise.all(
    alternatives.map((fields) =>
      tx.conversations.find({ where: { workspaceId, ...fields }, ...order, after, limit }),
    ),
  );
  if (lists.length === 1) return lists[0]!;
  const byId = new Map(lists.flat().map((conversation) => [conversation.id, conversation]));
  const placeOf = (conversation: Conversation) => {
    const { value, id } = positionOf(conversation);
    return `${value} ${id}`;
  };
  const sign = order.direction === 'asc' ? 1 : -1;
  return [...byId.values()]
    .sort((a, b) => sign * (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, limit);
}
