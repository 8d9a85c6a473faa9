import { findNewestMessages, findTyping, type Contact } from '../../conversations/index.ts';
import { openSetup } from '../../platform/accounts/accountSetup.ts';
import type { Deps } from '../../platform/deps.ts';
import {
  LEASE_MARGIN_MS,
  startWorker,
  type JobContext,
  type Work,
  type Worker,
} from '../../platform/jobs/worker.ts';
import type { Tx } from '../../store/collections.ts';
import type { Channel } from '../channel.ts';
import type { ChannelsConfig } from '../channelAdapter.ts';
import { findChannelOf } from '../operations/channels.ts';
import { adapterOf, connectedChannel } from '../registry.ts';
import { accountGroup, TYPING_QUEUE } from './outboundMessage.ts';

/** When typing is first shown. Nothing is shown for a turn that ends sooner. */
const FIRST_AFTER_MS = 1000;
/** How many of the newest messages are searched for the customer's last one. */
const MESSAGES_READ = 10;
const MAX_PER_WORKSPACE = 16;
const MAX_PER_ACCOUNT = 5;

const jobId = (contactId: string) => `typing ${contactId}`;

/** Makes a contact's channel show that somebody is typing, if it can. */
export async function queueTyping(tx: Tx, contact: Contact, now: Date): Promise<void> {
  if (adapterOf(contact.channel).capabilities.typingEveryMs === undefined) return;
  await tx.jobs.enqueue({
    id: jobId(contact.id),
    queue: TYPING_QUEUE,
    group: accountGroup(contact),
    runAt: now.getTime() + FIRST_AFTER_MS,
    rank: 0,
    data: { contactId: contact.id },
  });
}

interface TypingOptions extends Work {
  readonly config: ChannelsConfig;
}

/**
 * Shows customers on connected channels that somebody is typing, again and again until the turn
 * ends. Best effort: what fails is not tried again.
 */
export const startTyping = (options: TypingOptions): Worker =>
  startWorker({
    ...options,
    queue: TYPING_QUEUE,
    maxPerWorkspace: MAX_PER_WORKSPACE,
    freeInGroup: (_account, underWay) => MAX_PER_ACCOUNT - underWay,
    leaseMs: options.config.timeoutMs + LEASE_MARGIN_MS,
    drainMs: 0,
    run: ({ data }, context) => showTyping(options, String(data.contactId), context),
    onFailure: { message: 'typing could not be shown to a customer', idField: 'typing' },
  });

/** To whom typing is shown, and where. */
interface Recipient {
  readonly contact: Contact;
  readonly channel: Channel;
  readonly lastMessageId: string;
}

async function showTyping(
  { deps, config, log }: TypingOptions,
  contactId: string,
  { signal, retry }: JobContext,
): Promise<void> {
  const recipient = await retry(() =>
    deps.store.transaction((tx) => scheduleNext(tx, deps, contactId)),
  );
  if (!recipient) return;
  const { contact, channel, lastMessageId } = recipient;
  const to = { phone: contact.phone, channelUserId: contact.channelUserId, lastMessageId };
  const account = { channel, values: openSetup(deps, channel) };
  await connectedChannel(channel.type)
    .showTyping?.(to, account, { config, signal })
    .catch((error: unknown) => log.debug({ err: error, channel: channel.id }, 'typing not shown'));
}

/**
 * Schedules the next time that typing is shown.
 * @returns null, with the job ended, when the turn has ended or the channel cannot show it
 */
async function scheduleNext(tx: Tx, deps: Deps, contactId: string): Promise<Recipient | null> {
  const now = deps.clock.now();
  const typing = await findTyping(tx, contactId, now);
  const contact = typing && (await tx.contacts.peek(contactId));
  const channel = contact && (await findChannelOf(tx, contact));
  const newest =
    typing === null ? [] : await findNewestMessages(tx, typing.conversationId, MESSAGES_READ);
  const lastMessageId = newest.find(({ direction }) => direction === 'inbound')?.channelMessageId;
  const everyMs = contact && adapterOf(contact.channel).capabilities.typingEveryMs;
  if (!contact || !channel || !lastMessageId || !everyMs) {
    await tx.jobs.complete(jobId(contactId));
    return null;
  }
  await tx.jobs.release(jobId(contactId), { runAt: now.getTime() + everyMs, rank: 0 });
  return { contact, channel, lastMessageId };
}
