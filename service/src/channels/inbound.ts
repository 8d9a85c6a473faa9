import type { DeliveryState } from '../conversations/index.ts';

/** What a channel reports to a webhook of ours. */
export type InboundItem = InboundMessage | InboundNote | InboundReceipt;

interface ForAccount {
  /** The channel's id of the account that the item is for. */
  readonly account: string;
}

/** The customer whom an item is about. At least one of phone and userId is known. */
export interface InboundSender {
  /** International digits, verified by the channel. */
  readonly phone: string | null;
  readonly userId: string | null;
  readonly name: string | null;
}

/** A message from the customer. Anything but text is described in brackets. */
export interface InboundMessage extends ForAccount {
  readonly type: 'message';
  readonly from: InboundSender;
  /** The channel's id; the same id is the same message. */
  readonly id: string;
  readonly text: string;
  /** By the channel's clock; null when it does not say. */
  readonly sentAt: Date | null;
}

/** Something else that the customer did. It is shown in the thread and needs no answer. */
export interface InboundNote extends ForAccount {
  readonly type: 'note';
  readonly from: InboundSender;
  readonly id: string;
  /** Follows the customer's name, as in `reacted with 👍`. */
  readonly text: string;
  /** By the channel's clock; null when it does not say. */
  readonly sentAt: Date | null;
  /** The customer's new phone number or user id; null when nothing has changed. */
  readonly changedTo: Pick<InboundSender, 'phone' | 'userId'> | null;
}

/** How far one of our outbound messages has come. */
export interface InboundReceipt extends ForAccount {
  readonly type: 'receipt';
  readonly channelMessageId: string;
  /** The id of our outbound message, if the channel returns it; else null. */
  readonly outboundMessageId: string | null;
  readonly state: Exclude<DeliveryState, 'pending'>;
  /** Why it failed, in words. */
  readonly error: string | null;
}

interface Group {
  readonly keys: Set<string>;
  readonly items: { readonly position: number; readonly item: InboundItem }[];
}

/**
 * Groups the items of one webhook call by contact and keeps their order. It recognises a contact whom
 * one message names by phone number, another by user id and a third by both. Receipts are grouped by
 * outbound message.
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
    // After a merge, the keys of the other groups must lead to this group too.
    const movedKeys = others.length > 0 ? group.keys : keys;
    for (const key of movedKeys) groups.set(key, group);
  });
  return [...new Set(groups.values())].map((group) =>
    group.items.sort((a, b) => a.position - b.position).map(({ item }) => item),
  );
}

/** The keys of an item within a workspace and channel type: items that share one belong together. */
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
