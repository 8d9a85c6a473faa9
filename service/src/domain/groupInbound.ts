import type { InboundItem } from './inbound.ts';

interface Group {
  readonly keys: Set<string>;
  readonly items: { readonly position: number; readonly item: InboundItem }[];
}

/**
 * What was delivered at once, by contact: what is about the same person stays together and in its
 * order, also where one message knows them by phone number, another by user id and a third by both.
 * Receipts are grouped by what they are a receipt of.
 */
export function groupInbound(items: readonly InboundItem[]): InboundItem[][] {
  const groups = new Map<string, Group>();
  items.forEach((item, position) => {
    const keys = keysOf(item);
    const [known, ...others] = new Set(
      keys.map((key) => groups.get(key)).filter((each) => each !== undefined),
    );
    const group: Group = known ?? { keys: new Set(), items: [] };
    for (const other of others) {
      group.items.push(...other.items);
      for (const key of other.keys) group.keys.add(key);
    }
    for (const key of keys) group.keys.add(key);
    group.items.push({ position, item });
    for (const key of others.length > 0 ? group.keys : keys) groups.set(key, group);
  });
  return [...new Set(groups.values())].map((group) =>
    group.items.sort((a, b) => a.position - b.position).map(({ item }) => item),
  );
}

/**
 * What tells who an item is about, within a workspace and a type of channel: items that share a key
 * belong together.
 */
export function keysOf(item: InboundItem): string[] {
  if (item.type === 'receipt')
    return [`receipt ${item.account} ${item.outboundMessageId ?? item.channelMessageId}`];
  const { phone, userId } = item.from;
  const changedTo = item.type === 'note' ? item.changedTo : null;
  const phones = [phone, changedTo?.phone ?? null]
    .filter((each) => each !== null)
    .map((each) => `phone ${item.account} ${each}`);
  const userIds = [userId, changedTo?.userId ?? null]
    .filter((each) => each !== null)
    .map((each) => `user ${item.account} ${each}`);
  return [...phones, ...userIds];
}
