import type { Channel } from '../domain/channel.ts';
import type { Tx } from '../domain/collections.ts';
import type { Contact } from '../domain/contact.ts';
import type { Deps } from '../domain/deps.ts';
import { findChannelOf } from '../domain/operations/findChannelOf.ts';
import { lockSendings } from '../domain/operations/lockSendings.ts';
import { showDelivery } from '../domain/operations/showDelivery.ts';
import {
  beginTry,
  failSending,
  recordTry,
  type SendResult,
  type Sending,
  type SendingPolicy,
} from '../domain/sending.ts';
import type { Job } from '../store/store.ts';
import { scheduleSendings } from './scheduleSendings.ts';

/** A try that may be made now: it is on record already. */
export interface BegunSending {
  readonly sending: Sending;
  readonly contact: Contact;
  readonly channel: Channel;
}

const REMOVED = 'The channel was disconnected before this could be sent.';
const EARLIER_PART = 'An earlier part of this message was not delivered, so the rest was not sent.';

/** The process died between the try and its record. */
const INTERRUPTED: SendResult = {
  type: 'failed',
  error: 'The service stopped while this was being sent.',
  isRefused: false,
  retryAfterMs: null,
  mayHaveArrived: true,
};

/**
 * Takes the contact's oldest text that is to be sent, and puts the beginning of a try on record
 * before anything is sent. Ends what cannot be sent any more. What is found under way was
 * interrupted by a crash and may have arrived: a receipt is waited for before it is sent again.
 * @param job the claimed one: its time has come, whatever the clock on the wall has been set to
 * since
 * @param isInTime a try now would be over before anybody else can claim the job; else the texts are
 * left to whoever claims it next
 * @returns null when nothing is to be sent now; the job then has its next time, or is gone
 */
export function beginSending(
  deps: Deps,
  { id: contactId, runAt }: Pick<Job, 'id' | 'runAt'>,
  policy: SendingPolicy,
  isInTime: () => boolean,
): Promise<BegunSending | null> {
  const random = Math.random();
  return deps.store.transaction(async (tx) => {
    const now = deps.clock.now();
    await lockSendings(tx, contactId);
    if (!isInTime()) return null;
    for (
      let sending = await findOldest(tx, contactId);
      sending;
      sending = await findOldest(tx, contactId)
    ) {
      const looked = sending.isUnderWay
        ? recordTry(sending, INTERRUPTED, policy, now, random)
        : sending;
      const dueBy = looked === sending ? Math.max(now.getTime(), runAt) : now.getTime();
      if (looked.nextAttemptAt !== null && Date.parse(looked.nextAttemptAt) > dueBy) {
        if (looked !== sending) await tx.sendings.put(looked);
        await scheduleSendings(tx, contactId, now);
        return null;
      }
      const contact = await tx.contacts.peek(contactId);
      if (!contact) throw new Error(`contact ${contactId} is missing`);
      const channel = await findChannelOf(tx, contact);
      const ended = looked.status !== 'pending' ? looked : await endOf(tx, looked, channel);
      if (ended === null && channel) {
        const begun = beginTry(looked);
        await tx.sendings.put(begun);
        return { sending: begun, contact, channel };
      }
      await tx.sendings.put(ended ?? looked);
      await showDelivery(tx, sending.messageId);
    }
    await tx.jobs.complete(contactId);
    return null;
  });
}

/** The sending as it ends when it cannot be sent; null when it can. */
async function endOf(tx: Tx, sending: Sending, channel: Channel | null): Promise<Sending | null> {
  if (!channel) return failSending(sending, REMOVED);
  if (sending.part === 1) return null;
  // Half a text is not continued.
  const parts = await tx.sendings.find({
    where: { messageId: sending.messageId },
    orderBy: 'part',
    limit: sending.part,
  });
  return parts.some(({ part, status }) => part < sending.part && status === 'failed')
    ? failSending(sending, EARLIER_PART)
    : null;
}

async function findOldest(tx: Tx, contactId: string): Promise<Sending | null> {
  const [oldest] = await tx.sendings.find({ where: { contactId, status: 'pending' }, limit: 1 });
  return oldest ?? null;
}
