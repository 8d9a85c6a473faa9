import type { Channel } from '../channel.ts';
import type { Tx } from '../../store/collections.ts';
import { isForgotten, type Contact } from '../../conversations/index.ts';
import type { Deps } from '../../platform/deps.ts';
import { findChannelOf } from '../operations/channels.ts';
import {
  findNextPending,
  lockOutbound,
  putOutbound,
  unusedChannelMessageId,
} from './queueOutbound.ts';
import {
  afterAttempt,
  failOutbound,
  startAttempt,
  type AttemptPolicy,
  type OutboundMessage,
  type SendResult,
} from './outboundMessage.ts';
import type { Job } from '../../store/store.ts';

/** An attempt to make now. It is on record already. */
export interface BegunAttempt {
  readonly outbound: OutboundMessage;
  readonly contact: Contact;
  readonly channel: Channel;
}

const CHANNEL_REMOVED = 'The channel was disconnected before this message was sent.';
const EARLIER_PART_FAILED =
  'An earlier part of this message was not delivered, so the rest was not sent.';

/** The process died between the attempt and its record. */
const INTERRUPTED: SendResult = {
  type: 'failed',
  error: 'The service stopped while this message was being sent.',
  isRefused: false,
  retryAfterMs: null,
  mayHaveArrived: true,
};

/**
 * Takes the contact's next pending text and records that an attempt begins, before anything is
 * sent. Texts that can no longer be sent fail. A text whose attempt a crash interrupted may have
 * arrived: it waits for a receipt before it is sent again.
 * @param job the claimed job. It is due even if the wall clock has been set back since.
 * @param isInTime whether an attempt would end before another process can claim the job. If not, the
 * text is left to that process.
 * @returns null when nothing is to be sent now; the job then has its next time, or is gone
 */
export function beginAttempt(
  deps: Deps,
  { id: contactId, runAt }: Pick<Job, 'id' | 'runAt'>,
  policy: AttemptPolicy,
  isInTime: () => boolean,
): Promise<BegunAttempt | null> {
  const random = Math.random();
  return deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    await lockOutbound(tx, contactId);
    if (!isInTime()) return null;
    for (;;) {
      const outbound = await findNextPending(tx, contactId);
      if (outbound?.isUnderWay) {
        const interrupted = afterAttempt(outbound, INTERRUPTED, policy, now, random);
        await putOutbound(tx, deps, outbound, interrupted, now);
        if (interrupted.status !== 'pending') continue;
      }
      if (!outbound || outbound.isUnderWay || isLater(outbound, Math.max(now.getTime(), runAt))) {
        await scheduleNext(tx, contactId, now);
        return null;
      }
      const contact = await tx.contacts.peek(contactId);
      if (!contact) throw new Error(`contact ${contactId} is missing`);
      const channel = await findChannelOf(tx, contact);
      if (channel && !isForgotten(contact) && !(await hasFailedPart(tx, outbound))) {
        const begun = startAttempt(outbound);
        await tx.outboundMessages.put(begun);
        return { outbound: begun, contact, channel };
      }
      const reason = channel ? EARLIER_PART_FAILED : CHANNEL_REMOVED;
      await putOutbound(tx, deps, outbound, failOutbound(outbound, reason), now);
    }
  });
}

/**
 * Records the result of an attempt and schedules the contact's next text, in one transaction. If
 * another process has taken over because this one outlived its lease, only a success still counts.
 * @param made the outbound message as it was attempted
 * @returns the outbound message as stored; null when it has been removed
 */
export function recordAttempt(
  deps: Deps,
  made: Pick<OutboundMessage, 'id' | 'contactId' | 'attempts'>,
  result: SendResult,
  policy: AttemptPolicy,
): Promise<OutboundMessage | null> {
  const random = Math.random();
  return deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    await lockOutbound(tx, made.contactId);
    const before = await tx.outboundMessages.get(made.id);
    const isLate = !before?.isUnderWay || before.attempts !== made.attempts;
    if (before && (!isLate || result.type === 'sent')) {
      const known = await withUnusedId(tx, before, result);
      const after = afterAttempt(reopenedIfLost(before), known, policy, now, random);
      await putOutbound(tx, deps, before, after, now);
    }
    await scheduleNext(tx, made.contactId, now);
    return before && tx.outboundMessages.peek(made.id);
  });
}

/** Without the failure that another process assumed. One that a receipt reported has its id. */
const reopenedIfLost = (outbound: OutboundMessage): OutboundMessage =>
  outbound.status === 'failed' && outbound.channelMessageId === null
    ? { ...outbound, status: 'pending' }
    : outbound;

const isLater = ({ nextAttemptAt }: OutboundMessage, at: number): boolean =>
  nextAttemptAt !== null && Date.parse(nextAttemptAt) > at;

/** A message is not continued after a part of it has failed. */
async function hasFailedPart(tx: Tx, { messageId, part }: OutboundMessage): Promise<boolean> {
  if (part === 1) return false;
  const parts = await tx.outboundMessages.find({
    where: { messageId },
    orderBy: 'part',
    limit: part,
  });
  return parts.some((each) => each.part < part && each.status === 'failed');
}

async function withUnusedId(
  tx: Tx,
  outbound: OutboundMessage,
  result: SendResult,
): Promise<SendResult> {
  if (result.type !== 'sent') return result;
  const channelMessageId = await unusedChannelMessageId(tx, outbound, result.channelMessageId);
  return { ...result, channelMessageId };
}

/**
 * Gives the contact's job the time of the next text, or removes it after the last one. While an
 * attempt is under way, the process that makes it holds the job.
 */
async function scheduleNext(tx: Tx, contactId: string, now: Date): Promise<void> {
  const next = await findNextPending(tx, contactId);
  if (!next) return tx.jobs.complete(contactId);
  if (next.isUnderWay) return;
  const { nextAttemptAt } = next;
  await tx.jobs.release(contactId, {
    runAt: nextAttemptAt === null ? now.getTime() : Date.parse(nextAttemptAt),
    rank: nextAttemptAt === null ? 0 : 1,
  });
}
