import type { Channel } from '../channel.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Tx } from '../../store/collections.ts';
import {
  type Contact,
  type Conversation,
  newSystemNote,
  findLastConversation,
  findReceived,
  storeReceived,
} from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import {
  groupInbound,
  keysOf,
  type InboundItem,
  type InboundMessage,
  type InboundNote,
} from '../inbound.ts';
import { derivedId } from '../../platform/ids.ts';
import type { Workspace } from '../../team/index.ts';
import { KeyedMutex, Semaphore } from '../../platform/async/semaphore.ts';
import { putIfChanged, newContact, recogniseContact, renumberContact } from './recogniseContact.ts';
import { recordReceipt } from '../outbound/queueOutbound.ts';

/** Transactions that run at once. They share the store's writes to disk. */
const MAX_CONCURRENT_TRANSACTIONS = 50;

/**
 * Stores what a channel delivers: messages, notes and receipts. Each item is stored once, however
 * often it comes. All items about one contact are stored in one transaction, in order. An item goes
 * to the account that it names, since one webhook address may serve several numbers.
 * @param channel the account whose secret verified the webhook call
 * @param contactLocks the locks that all webhook calls share: items about the same contact are
 * stored in the order in which the calls came
 * @returns how many items name an account that the workspace has not connected; these are skipped
 * @throws the first failure of a contact's items, after all others are stored. It is safe to pass
 * the same items again.
 */
export async function receiveInbound(
  deps: Deps,
  channel: Channel,
  items: readonly InboundItem[],
  contactLocks = new KeyedMutex(),
): Promise<{ unknown: number }> {
  const { workspaceId, type } = channel;
  // The locks are taken before the first await, so their order is that of the calls.
  const groups = groupInbound(items).map((group) => ({
    group,
    account: group[0]!.account,
    lock: contactLocks.lock(group.flatMap(keysOf).map((key) => `${workspaceId} ${type} ${key}`)),
  }));
  try {
    const { workspace, channels } = await openAccounts(deps, channel, items);
    const transactions = new Semaphore(MAX_CONCURRENT_TRANSACTIONS);
    const receiving = groups.map(({ group, account, lock }) =>
      transactions.run(async () => {
        await lock.ready;
        const named = channels.get(account);
        if (named) await receiveGroup(deps, workspace, named, group).finally(lock.release);
      }),
    );
    // A failure does not stop the others.
    await Promise.allSettled(receiving);
    await Promise.all(receiving);
    return { unknown: items.filter(({ account }) => !channels.has(account)).length };
  } finally {
    for (const { lock } of groups) lock.release();
  }
}

/** `lastInboundAt` is written at most once in this time, unless the clock leaps. */
const LAST_INBOUND_PRECISION_MS = 60_000;

/** Loads the workspace and its channels by account, and updates the channels' `lastInboundAt`. */
const openAccounts = ({ store, clock }: Deps, channel: Channel, items: readonly InboundItem[]) =>
  store.transaction(async (tx) => {
    const { workspaceId, type } = channel;
    const workspace = await tx.workspaces.peek(workspaceId);
    if (!workspace) throw new Error(`workspace ${workspaceId} is missing`);
    const channels = new Map<string, Channel>();
    for (const account of new Set([channel.account, ...items.map((item) => item.account)])) {
      const [found] = await tx.channels.find({ where: { workspaceId, type, account }, limit: 1 });
      if (!found) continue;
      channels.set(account, found);
      await noteInbound(tx, found, clock.now());
    }
    return { workspace, channels };
  });

async function noteInbound(tx: Tx, channel: Channel, now: Date): Promise<void> {
  if (
    channel.lastInboundAt !== null &&
    Math.abs(now.getTime() - Date.parse(channel.lastInboundAt)) < LAST_INBOUND_PRECISION_MS
  )
    return;
  await tx.channels.put({ ...channel, lastInboundAt: timestamp(now) });
}

/**
 * Stores the items of a group: about one contact, or about several that the items join. Wakes the
 * agent once for each conversation, after the last message.
 */
const receiveGroup = (
  deps: Deps,
  workspace: Workspace,
  channel: Channel,
  items: readonly InboundItem[],
) =>
  deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    const answerable = new Map<string, Conversation>();
    // A receipt locks an outbound message, which comes after contact and conversation in the order
    // of locks. See docs/decisions/0033-the-order-of-locks.md.
    const receiptsLast = [...items].sort(
      (a, b) => Number(a.type === 'receipt') - Number(b.type === 'receipt'),
    );
    for (const item of receiptsLast) {
      if (item.type === 'receipt') await recordReceipt(tx, deps, channel, item, now);
      else if (item.type === 'note') await storeNote(tx, channel, item, now);
      else {
        const conversation = await storeInbound(tx, workspace, channel, item, now);
        if (conversation) answerable.set(conversation.id, conversation);
      }
    }
    for (const conversation of answerable.values()) {
      const reacted = await deps.reactions.onInbound(tx, conversation, now);
      if (reacted !== conversation) await tx.conversations.put(reacted);
    }
  });

/** @returns the conversation that the message was added to, or null when it is stored already */
async function storeInbound(
  tx: Tx,
  workspace: Workspace,
  channel: Channel,
  item: InboundMessage,
  now: Date,
): Promise<Conversation | null> {
  const known = await recogniseContact(tx, channel, item.from, item.sentAt);
  if (known && (await findReceived(tx, known.id, item.id))) return null;
  const contact = withLastWrote(
    known ?? newContact(channel, item.from, now),
    timestamp(timeOf(item, now)),
  );
  await putIfChanged(tx, contact);
  const last = await findLastConversation(tx, contact.id);
  const { conversation } = await storeReceived(
    tx,
    { workspace, contact, last },
    { text: item.text, channelMessageId: item.id },
    now,
  );
  return conversation;
}

/** When an item was sent, but not later than now: a channel's clock may be ahead of ours. */
const timeOf = ({ sentAt }: Pick<InboundMessage, 'sentAt'>, now: Date): Date =>
  sentAt !== null && sentAt < now ? sentAt : now;

/** The contact with the time of its newest message. Messages may arrive out of order. */
function withLastWrote(contact: Contact, at: string): Contact {
  const before = contact.lastWroteAt ?? null;
  return { ...contact, lastWroteAt: before !== null && before > at ? before : at };
}

/** Adds a note to the contact's last conversation. It opens no conversation and wakes no agent. */
async function storeNote(tx: Tx, channel: Channel, item: InboundNote, now: Date): Promise<void> {
  const { id, from, text, sentAt, changedTo } = item;
  const known = await recogniseContact(tx, channel, from, sentAt);
  // The id follows from the item, so that the same item again changes nothing.
  const noteId = derivedId(
    'note',
    sentAt,
    JSON.stringify([channel.workspaceId, channel.type, channel.account, id]),
  );
  if (!known || (await tx.systemNotes.get(noteId))) return;
  const contact =
    changedTo === null
      ? known
      : await renumberContact(tx, channel, known, changedTo, timeOf(item, now));
  await putIfChanged(tx, contact);
  const conversation = await findLastConversation(tx, contact.id);
  if (!conversation) return;
  const note = newSystemNote(
    conversation,
    { type: 'channel_note', text },
    { type: 'api', name: channel.name },
    now,
  );
  await tx.systemNotes.put({ ...note, id: noteId });
}
