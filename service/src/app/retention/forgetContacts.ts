import { encodeTime } from 'ulid';
import {
  FORGETTING_QUEUE,
  type Contact,
  type ForgettingStep,
  type Removed,
  type RemovedKind,
} from '../../conversations/contact.ts';
import { forgettingJobId } from '../../conversations/contacts/forgetContact.ts';
import type { Conversation } from '../../conversations/conversation.ts';
import type { Event } from '../../deliveries/event.ts';
import { timestamp } from '../../platform/clock.ts';
import { putPayment } from '../../payments/operations/paymentLinks.ts';
import { clearPayment, isCleared } from '../../payments/payment.ts';
import type { Deps } from '../../platform/deps.ts';
import { startWorker, type Work, type Worker } from '../../platform/jobs/worker.ts';
import type { Tx } from '../../store/collections.ts';
import type { Document } from '../../store/store.ts';
import {
  ALL,
  Removal,
  removeConversation,
  removeParts,
  removeReveals,
  removeSessions,
} from './removeConversations.ts';

/** One transaction looks at about this many documents, so that others do not wait long. */
const BATCH = 500;
const LEASE_MS = 5 * 60_000;
/** The clocks of two processes differ by less than this. */
const MAX_CLOCK_SKEW_MS = 60 * 60_000;

/** What one transaction has done. */
interface ForgottenBatch {
  readonly removed: Removed;
  /** Where the next transaction goes on; null when nothing is left. */
  readonly next: ForgettingStep | null;
}

/**
 * Removes what is left of forgotten contacts. Each transaction notes on the contact how far it has
 * come, so that another process can go on from there. Two processes at once do no harm.
 */
export const startForgetting = ({ deps, log }: Work): Worker =>
  startWorker({
    deps,
    log,
    queue: FORGETTING_QUEUE,
    maxPerWorkspace: 2,
    leaseMs: LEASE_MS,
    run: async (job, { signal, retry }) => {
      const contactId = String(job.data.contactId);
      while (!signal.aborted) if (await retry(() => forgetNext(deps, contactId))) return;
    },
    onFailure: {
      message: 'a contact could not be forgotten yet; it goes on later',
      idField: 'job',
    },
  });

/**
 * Removes the next batch of what is left of a forgotten contact.
 * @returns whether nothing is left
 */
export const forgetNext = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  contactId: string,
): Promise<boolean> =>
  store.transaction(async (tx) => {
    const now = clock.now();
    const contact = await tx.contacts.get(contactId);
    const forgetting = contact?.forgotten;
    if (!contact || !forgetting?.next) {
      await tx.jobs.complete(forgettingJobId(contactId));
      return true;
    }
    const { removed, next } = await TASKS[forgetting.next.task](tx, contact, forgetting.next, now);
    const isDone = next === null;
    await tx.contacts.put({
      ...contact,
      forgotten: {
        ...forgetting,
        removed: sum(forgetting.removed, removed),
        next,
        finishedAt: isDone ? timestamp(now) : null,
      },
    });
    if (isDone) await tx.jobs.complete(forgettingJobId(contactId));
    return isDone;
  });

type Task = (tx: Tx, contact: Contact, step: ForgettingStep, now: Date) => Promise<ForgottenBatch>;

/**
 * In this order: the conversations first, so that nothing new is emitted; events last, since only
 * its event tells which conversation a delivery is about.
 */
const TASKS: Record<ForgettingStep['task'], Task> = {
  conversations: forgetConversations,
  rest: async (tx, contact, step) => ({
    removed: await forgetRest(tx, contact),
    next: begin('deliveries', step),
  }),
  deliveries: forgetDeliveries,
  events: forgetEvents,
};

const begin = (task: ForgettingStep['task'], step: ForgettingStep): ForgettingStep => ({
  ...step,
  task,
  after: null,
});

/** Removes parts of the contact's conversations, and the conversations that have no parts left. */
async function forgetConversations(
  tx: Tx,
  { id: contactId }: Contact,
  step: ForgettingStep,
  now: Date,
): Promise<ForgottenBatch> {
  const removal = new Removal(BATCH);
  const { removed } = removal;
  while (removal.left > 0) {
    const [found] = await tx.conversations.find({ where: { contactId }, limit: 1 });
    if (!found) return { removed, next: begin('rest', step) };
    const conversation = await tx.conversations.get(found.id);
    if (!conversation || !(await removeParts(tx, conversation, removal, now, clearPayments)))
      continue;
    // The contact stays, with the record of what was removed.
    await removeConversation(tx, conversation);
    removal.count('conversations');
  }
  return { removed, next: step };
}

/** A payment is part of the books: it stays, without what was written about it. */
async function clearPayments(
  tx: Tx,
  { id: conversationId }: Conversation,
  removal: Removal,
  now: Date,
): Promise<void> {
  for (const { id } of await tx.payments.find({ where: { conversationId }, limit: ALL })) {
    const payment = await tx.payments.get(id);
    if (!payment || isCleared(payment)) continue;
    await putPayment(tx, clearPayment(payment, now));
    removal.count('clearedPayments');
  }
}

/** What belongs to the contact and to no conversation. */
async function forgetRest(tx: Tx, { id: contactId }: Contact): Promise<Removed> {
  const chatSessions = await removeSessions(tx, contactId);
  const reveals = await removeReveals(tx, contactId);
  await tx.typings.delete(contactId);
  // The job of the texts that were on their way to the contact.
  await tx.jobs.complete(contactId);
  return { chatSessions, reveals };
}

/**
 * Deliveries are found by time, which also finds those of removed subscriptions. Removing a pending
 * delivery cancels it.
 */
async function forgetDeliveries(
  tx: Tx,
  contact: Contact,
  step: ForgettingStep,
): Promise<ForgottenBatch> {
  const found = await tx.deliveries.find({
    where: {},
    limit: BATCH,
    after: startOf('dlv', contact, step),
  });
  const own = found.filter(({ workspaceId }) => workspaceId === contact.workspaceId);
  const events = await Promise.all(own.map(({ eventId }) => tx.events.peek(eventId)));
  let deliveries = 0;
  for (const [at, { id }] of own.entries()) {
    if (!isOf(step, events[at] ?? null)) continue;
    deliveries += Number(await tx.deliveries.delete(id));
    await tx.jobs.complete(id);
  }
  return { removed: { deliveries }, next: goOn(step, found) ?? begin('events', step) };
}

async function forgetEvents(
  tx: Tx,
  contact: Contact,
  step: ForgettingStep,
): Promise<ForgottenBatch> {
  const found = await tx.events.find({
    where: {},
    limit: BATCH,
    after: startOf('evt', contact, step),
  });
  let events = 0;
  for (const event of found)
    if (isOf(step, event)) events += Number(await tx.events.delete(event.id));
  return { removed: { events }, next: goOn(step, found) };
}

/** @returns where to go on after a batch; null when it was the last one */
const goOn = (step: ForgettingStep, batch: readonly Document[]): ForgettingStep | null =>
  batch.length < BATCH ? null : { ...step, after: batch.at(-1)!.id };

const isOf = ({ conversationIds }: ForgettingStep, event: Event | null): boolean =>
  event?.conversationId != null && conversationIds.includes(event.conversationId);

/** Ids sort by time, and nothing of a contact is older than the contact. */
const startOf = (prefix: string, { createdAt }: Contact, { after }: ForgettingStep) => ({
  value: after ?? `${prefix}_${encodeTime(Math.max(0, Date.parse(createdAt) - MAX_CLOCK_SKEW_MS))}`,
});

/** Adds up what was removed, by kind. */
function sum(a: Removed, b: Removed): Removed {
  const added: Partial<Record<RemovedKind, number>> = { ...a };
  for (const [kind, count] of Object.entries(b) as [RemovedKind, number][])
    if (count > 0) added[kind] = (added[kind] ?? 0) + count;
  return added;
}
