import type { Channel } from '../channel.ts';
import { timestamp } from '../clock.ts';
import type { Tx } from '../collections.ts';
import type { Contact } from '../contact.ts';
import type { Conversation } from '../conversation.ts';
import type { Deps } from '../deps.ts';
import {
  groupInbound,
  keysOf,
  type InboundItem,
  type InboundMessage,
  type InboundNote,
} from '../inbound.ts';
import { derivedId } from '../ids.ts';
import { newSystemNote } from '../systemNote.ts';
import type { Workspace } from '../workspace.ts';
import { KeyedMutex } from '../../work/keyedMutex.ts';
import { findLastConversation, findReceived, storeReceived } from './receiveMessage.ts';
import { keepContact, newContact, recogniseContact, renumberContact } from './recogniseContact.ts';
import { recordReceipt } from './recordReceipt.ts';
import { wakeAgent } from './wakeAgent.ts';

/** Transactions begun at once: they share the store's writes to disk. */
const MAX_CONCURRENT_TRANSACTIONS = 50;

/**
 * Takes in what an account of a channel has delivered, in one go or in parts: messages, notes and
 * receipts, each once however often it comes. What is about one contact is one transaction, so that
 * it stays together and in order. Items go to the account of the workspace that they name: one
 * address may serve several numbers.
 * @param channel the account whose secret the delivery was verified with
 * @param contacts shared by all deliveries: items about the same contact are stored in the order in
 * which the deliveries came, however much else each of them holds
 * @returns how many items were for accounts that the workspace has not connected; they are left out
 * @throws what a group of items failed with, after all others were taken in; giving the same again
 * is safe
 */
export async function receiveInbound(
  deps: Deps,
  channel: Channel,
  items: readonly InboundItem[],
  contacts = new KeyedMutex(),
): Promise<{ unknown: number }> {
  const { workspaceId, type } = channel;
  // Locked before anything is awaited, in the order in which the deliveries came.
  const groups = groupInbound(items).map((group) => ({
    group,
    account: group[0]!.account,
    lock: contacts.lock(group.flatMap(keysOf).map((key) => `${workspaceId} ${type} ${key}`)),
  }));
  try {
    const { workspace, channels } = await openAccounts(deps, channel, items);
    await forEachAtOnce(MAX_CONCURRENT_TRANSACTIONS, groups, async ({ group, account, lock }) => {
      await lock.ready;
      const itsChannel = channels.get(account);
      if (itsChannel) await receiveGroup(deps, workspace, itsChannel, group).finally(lock.release);
    });
    return { unknown: items.filter(({ account }) => !channels.has(account)).length };
  } finally {
    for (const { lock } of groups) lock.release();
  }
}

const SEEN_AGAIN_MS = 60_000;

/**
 * The workspace, and its channels by account; notes, at most once a minute, that they have
 * delivered.
 */
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
    now.getTime() - Date.parse(channel.lastInboundAt) < SEEN_AGAIN_MS
  )
    return;
  await tx.channels.put({ ...channel, lastInboundAt: timestamp(now) });
}

/** Takes in what is about one contact; the agent is woken once, after the last message. */
const receiveGroup = (
  deps: Deps,
  workspace: Workspace,
  channel: Channel,
  items: readonly InboundItem[],
) =>
  deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    let spokenIn: Conversation | null = null;
    // Receipts at the end: what they lock comes after contact and conversation. See
    // docs/decisions/0033.
    const receiptsLast = [...items].sort(
      (a, b) => Number(a.type === 'receipt') - Number(b.type === 'receipt'),
    );
    for (const item of receiptsLast) {
      if (item.type === 'receipt') await recordReceipt(tx, channel, item, now);
      else if (item.type === 'note') await storeNote(tx, channel, item, now);
      else spokenIn = (await storeInbound(tx, workspace, channel, item, now)) ?? spokenIn;
    }
    if (spokenIn) await wakeAgent(tx, deps, spokenIn, now.getTime() + deps.agent.quietMs);
  });

/** @returns the conversation that it was added to; null when it was there already */
async function storeInbound(
  tx: Tx,
  workspace: Workspace,
  channel: Channel,
  item: InboundMessage,
  now: Date,
): Promise<Conversation | null> {
  const known = await recogniseContact(tx, channel, item.from);
  if (known && (await findReceived(tx, known.id, item.id))) return null;
  const contact = hasWritten(known ?? newContact(channel, item.from, now), item.sentAt ?? now, now);
  await keepContact(tx, contact);
  const last = await findLastConversation(tx, contact.id);
  const { conversation } = await storeReceived(
    tx,
    { workspace, contact, last },
    { text: item.text, channelMessageId: item.id },
    now,
  );
  return conversation;
}

/** A channel's clock may be ahead of ours, and what comes late was written earlier. */
function hasWritten(contact: Contact, sentAt: Date, now: Date): Contact {
  const at = timestamp(sentAt < now ? sentAt : now);
  const before = contact.lastWroteAt ?? null;
  return { ...contact, lastWroteAt: before !== null && before > at ? before : at };
}

/** A note stands in the contact's last conversation; it opens none, and wakes nobody. */
async function storeNote(
  tx: Tx,
  channel: Channel,
  { id, from, text, sentAt, changedTo }: InboundNote,
  now: Date,
): Promise<void> {
  const known = await recogniseContact(tx, channel, from);
  if (!known) return;
  const contact = changedTo === null ? known : await renumberContact(tx, channel, known, changedTo);
  await keepContact(tx, contact);
  const conversation = await findLastConversation(tx, contact.id);
  // Made of what it is a note of: the same one again is not a second one.
  const noteId = derivedId(
    'note',
    sentAt,
    JSON.stringify([channel.workspaceId, channel.type, channel.account, id]),
  );
  if (!conversation || (await tx.systemNotes.get(noteId))) return;
  const note = newSystemNote(
    conversation,
    { type: 'channel_note', text },
    { type: 'api', name: channel.name },
    now,
  );
  await tx.systemNotes.put({ ...note, id: noteId });
}

/**
 * Does all of it, so many at a time, also when some of it fails. @throws the first failure, at the
 * end
 */
async function forEachAtOnce<T>(
  most: number,
  all: readonly T[],
  run: (each: T) => Promise<void>,
): Promise<void> {
  const waiting = all.values();
  const failures: unknown[] = [];
  const work = async () => {
    for (const each of waiting) await run(each).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, work));
  if (failures.length > 0) throw failures[0];
}
