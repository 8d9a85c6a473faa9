import type { Actor } from '../../platform/actor.ts';
import { timestamp } from '../../platform/clock.ts';
import type { Deps } from '../../platform/deps.ts';
import { notFound } from '../../platform/http/errorCatalogue.ts';
import { workGroup } from '../../platform/jobs/workGroup.ts';
import type { Tx } from '../../store/collections.ts';
import type { Workspace } from '../../team/index.ts';
import {
  forget,
  FORGETTING_QUEUE,
  isForgotten,
  type Contact,
  type Forgetting,
} from '../contact.ts';
import type { Conversation } from '../conversation.ts';
import { peekConversation } from '../operations/conversations.ts';

/** More conversations than any contact has. */
const ALL = 100_000;

/**
 * Forgets a contact. From now on nothing of them can be read, sent or received: their details are
 * gone, their conversation has ended. A job removes the rest in small transactions. Forgetting a
 * contact again changes nothing. Emits no event.
 * @returns the contact with the record of its removal
 * @throws not_found (404)
 * @see docs/decisions/0050-what-forgetting-a-contact-removes.md
 */
export const forgetContact = (
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  workspace: Workspace,
  contactId: string,
  by: Actor,
) =>
  store.transaction(async (tx): Promise<Contact> => {
    const contact = await tx.contacts.get(contactId);
    if (contact?.workspaceId !== workspace.id) throw notFound('contact', contactId);
    if (isForgotten(contact)) return contact;
    const now = clock.now();
    const conversations = await tx.conversations.find({ where: { contactId }, limit: ALL });
    for (const { id } of conversations) await endConversation(tx, id, now);
    const forgetting: Forgetting = {
      at: timestamp(now),
      by,
      removed: {},
      next: { task: 'conversations', after: null, conversationIds: idsWithPrevious(conversations) },
      finishedAt: null,
    };
    const forgotten = forget(contact, forgetting);
    await tx.contacts.put(forgotten);
    await tx.jobs.enqueue({
      id: forgettingJobId(contactId),
      queue: FORGETTING_QUEUE,
      group: workGroup(workspace.id, 'forgetting'),
      runAt: now.getTime(),
      rank: 0,
      data: { contactId },
    });
    return forgotten;
  });

/** The id of the job. The contact's own id is that of the job which sends their messages. */
export const forgettingJobId = (contactId: string): string => `forget_${contactId}`;

/**
 * The ids of the conversations and of the one before each: retention may have removed that one
 * without its events.
 */
const idsWithPrevious = (conversations: readonly Conversation[]): readonly string[] => [
  ...new Set(
    conversations.flatMap(({ id, previousConversationId }) =>
      previousConversationId === null ? [id] : [previousConversationId, id],
    ),
  ),
];

/** Closes an open conversation without an outcome. Work that the agent has begun becomes stale. */
async function endConversation(tx: Tx, id: string, now: Date): Promise<void> {
  const conversation = await tx.conversations.get(id);
  if (!conversation || conversation.status === 'closed') return;
  await tx.conversations.put({
    ...conversation,
    status: 'closed',
    waitingSince: null,
    replyWaitId: null,
    pendingApprovals: 0,
    controlEpoch: conversation.controlEpoch + 1,
    closedAt: timestamp(now),
  });
}

/** What forgetting the contact of a conversation would remove. */
export interface ForgetPreview {
  readonly contact: Contact;
  readonly conversations: number;
  readonly messages: number;
}

/** @throws not_found (404) */
export const readForgetPreview = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  conversationId: string,
) =>
  store.transaction(async (tx): Promise<ForgetPreview> => {
    const { contact } = await peekConversation(tx, workspace, conversationId);
    const conversations = await tx.conversations.find({
      where: { contactId: contact.id },
      limit: ALL,
    });
    const messages = conversations.reduce((sum, { messageCount }) => sum + messageCount, 0);
    return { contact, conversations: conversations.length, messages };
  });

/**
 * The record of a contact's removal.
 * @throws not_found (404), also of a contact that is not forgotten
 */
export const readForgotten = (
  { store }: Pick<Deps, 'store'>,
  workspace: Workspace,
  contactId: string,
) =>
  store.transaction(async (tx): Promise<Forgetting> => {
    const contact = await tx.contacts.peek(contactId);
    if (contact?.workspaceId !== workspace.id || contact.forgotten === undefined)
      throw notFound('forgotten contact', contactId);
    return contact.forgotten;
  });
