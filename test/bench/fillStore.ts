// Fills a store with finished conversations through the store itself. It runs in a process of its own,
// which ends afterwards and so gives its memory back.
import { timestamp } from '../../service/src/platform/clock.ts';
import { collections } from '../../service/src/app/collections.ts';
import type { Tx } from '../../service/src/store/collections.ts';
import type { Contact } from '../../service/src/conversations/contact.ts';
import {
  close,
  countMessage,
  type Conversation,
} from '../../service/src/conversations/conversation.ts';
import { recordAttempt } from '../../service/src/deliveries/delivery.ts';
import type { Event } from '../../service/src/deliveries/event.ts';
import { newId } from '../../service/src/platform/ids.ts';
import { findWorkspace } from '../../service/src/team/operations/team.ts';
import { eventPayload, type EventDetail } from '../../service/src/conversations/payload.ts';
import type { Workspace } from '../../service/src/team/workspace.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';
import { storedDelivery } from '../helpers/storedDelivery.ts';
import { answerQuestions } from './children.ts';
import { contactOf, conversationOf, messageOf } from './documents.ts';
import { openOnServer, type BenchServer } from './postgresServer.ts';

const MESSAGES = 8;
/**
 * A contact, a conversation, its messages, and an event and a delivery for the opening and each
 * message of the customer.
 */
export const DOCUMENTS_PER_CONVERSATION = 2 + MESSAGES + 2 * (1 + MESSAGES / 2);
/** Small enough that snapshots are written in between, as in a service that has grown to this size. */
const CONVERSATIONS_PER_TRANSACTION = 5;

/** An event and its delivery. */
const DOCUMENTS_PER_DELIVERY = 2;
/** No service has to wait for these, and PostgreSQL is faster with large transactions. */
const DELIVERIES_PER_TRANSACTION = 1000;

/** Names a store that a service has made, with a workspace in it, and how much to put there. */
export type FillQuestion = {
  readonly documents: number;
  /** The subscription that the deliveries are for. */
  readonly subscriptionId: string;
} & (
  | { readonly folder: string }
  /** This store gets events and deliveries only. */
  | { readonly server: Pick<BenchServer, 'url'>; readonly schema: string }
);

async function fill(question: FillQuestion): Promise<number> {
  const { documents, subscriptionId } = question;
  const { store, put, documentsEach, perTransaction } =
    'folder' in question
      ? {
          store: await openLowdbStore(collections, { folder: question.folder }),
          put: putConversation,
          documentsEach: DOCUMENTS_PER_CONVERSATION,
          perTransaction: CONVERSATIONS_PER_TRANSACTION,
        }
      : {
          store: await openOnServer(question.server, question.schema),
          put: putOpened,
          documentsEach: DOCUMENTS_PER_DELIVERY,
          perTransaction: DELIVERIES_PER_TRANSACTION,
        };
  const workspace = (await findWorkspace({ store }))!;
  const count = Math.ceil(documents / documentsEach);
  for (let done = 0; done < count; ) {
    const end = Math.min(count, done + perTransaction);
    await store.transaction(async (tx) => {
      for (let i = done; i < end; i += 1) await put(tx, workspace, subscriptionId, i);
    });
    done = end;
  }
  await store.close();
  return count * documentsEach;
}

type Put = (tx: Tx, workspace: Workspace, subscriptionId: string, i: number) => Promise<void>;

/** Puts the event of a conversation that was opened, and its delivery. */
const putOpened: Put = async (tx, workspace, subscriptionId, i) => {
  const now = new Date();
  const contact = contactOf(workspace.id, i, now);
  const conversation = conversationOf(contact, now);
  const about = { workspace, conversation, contact };
  await putDelivered(tx, { name: 'conversation.opened' }, about, subscriptionId, now);
};

/** Puts a conversation that the agent led and closed, as the service would store it now. */
const putConversation: Put = async (tx, workspace, subscriptionId, i) => {
  const now = new Date();
  const contact = contactOf(workspace.id, i, now);
  await tx.contacts.put(contact);
  let conversation = conversationOf(contact, now);
  const emit = (detail: EventDetail) =>
    putDelivered(tx, detail, { workspace, conversation, contact }, subscriptionId, now);
  await emit({ name: 'conversation.opened' });
  for (let number = 1; number <= MESSAGES; number += 1) {
    const message = messageOf(conversation, number, now);
    conversation = countMessage(conversation, message.direction, now);
    await tx.messages.put(message);
    if (message.direction === 'inbound') await emit({ name: 'message.received', message });
  }
  await tx.conversations.put(
    close(
      conversation,
      {
        verdict: 'goal_reached',
        summary: 'Booked for Tuesday at ten.',
        actor: { type: 'agent', name: 'Agent' },
      },
      now,
    ),
  );
};

async function putDelivered(
  tx: Tx,
  detail: EventDetail,
  about: { workspace: Workspace; conversation: Conversation; contact: Contact },
  subscriptionId: string,
  now: Date,
): Promise<void> {
  const [id, createdAt, workspaceId] = [newId('evt'), timestamp(now), about.workspace.id];
  const event: Event = {
    id,
    workspaceId,
    name: detail.name,
    conversationId: about.conversation.id,
    body: JSON.stringify(eventPayload(id, detail, about, now)),
    createdAt,
  };
  const pending = storedDelivery({
    workspaceId,
    subscriptionId,
    eventId: id,
    event: detail.name,
    nextAttemptAt: createdAt,
    createdAt,
  });
  await tx.events.put(event);
  await tx.deliveries.put(
    recordAttempt(
      pending,
      {
        at: createdAt,
        statusCode: 200,
        durationMs: 12,
        error: null,
        responseExcerpt: '{"ok":true}',
      },
      'success',
      [],
      now,
      0,
    ),
  );
}

if (process.send !== undefined) answerQuestions(fill);
