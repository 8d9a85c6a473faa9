import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AGENT_QUEUE } from '../../../service/src/agent/agentSettings.ts';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { ServiceStore, Tx } from '../../../service/src/store/collections.ts';
import type { Contact } from '../../../service/src/conversations/contact.ts';
import {
  openConversation,
  type Conversation,
} from '../../../service/src/conversations/conversation.ts';
import { DELIVERY_QUEUE, type Delivery } from '../../../service/src/deliveries/delivery.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import { idOfReadMark } from '../../../service/src/conversations/readMark.ts';
import type { Message } from '../../../service/src/conversations/message.ts';
import { removeOldConversations } from '../../../service/src/app/retention/removeOldConversations.ts';
import type { Payment } from '../../../service/src/payments/payment.ts';
import type { OutboundMessage } from '../../../service/src/channels/outbound/outboundMessage.ts';
import type { SystemNote } from '../../../service/src/conversations/systemNote.ts';
import type { ToolCall } from '../../../service/src/tools/calls/toolCall.ts';
import type { Member, Workspace } from '../../../service/src/team/workspace.ts';
import { sweepAll } from '../../../service/src/app/retention/housekeeping.ts';
import {
  StoreUnavailable,
  type Collection,
  type Document,
  type Query,
} from '../../../service/src/store/store.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { storedDelivery, storedEvent } from '../../helpers/storedDelivery.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const daysAgo = (days: number) => timestamp(new Date(NOW.getTime() - days * 86_400_000));
const WORKSPACE = 'ws_1';

describe('what retention removes', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    await store.transaction(async (tx) => {
      await tx.workspaces.put({ id: WORKSPACE, slug: 'w' } as Workspace);
      for (const id of ['mbr_1', 'mbr_2'])
        await tx.members.put({ id, workspaceId: WORKSPACE, email: `${id}@example.com` } as Member);
    });
  });
  afterEach(() => fresh.remove());

  interface Parts {
    readonly contactId?: string;
    readonly messages?: number;
    readonly payment?: Partial<Payment>;
    readonly call?: Partial<ToolCall>;
    readonly outbound?: Partial<OutboundMessage>;
  }

  /** A conversation with one of everything. */
  async function put(
    tx: Tx,
    days: number,
    { contactId = newId('ctc'), messages = 1, payment = {}, call = {}, outbound = {} }: Parts = {},
  ): Promise<Conversation> {
    const id = newId('conv');
    const at = { workspaceId: WORKSPACE, contactId, createdAt: daysAgo(days) };
    const part = { ...at, conversationId: id, afterMessage: 1 };
    const open = openConversation(
      { id, workspaceId: WORKSPACE, contactId, channel: 'web_chat', previousConversationId: null },
      new Date(daysAgo(days)),
    );
    const conversation: Conversation = { ...open, messageCount: messages };
    await tx.conversations.put(conversation);
    await tx.contacts.put({
      id: contactId,
      workspaceId: WORKSPACE,
      channel: 'web_chat',
      phone: null,
      email: null,
      createdAt: daysAgo(days),
    } as Contact);
    const reveal = { ...at, id: newId('rvl'), apiKeyId: 'key_1', apiKeyName: 'crm' };
    await tx.contactReveals.put(reveal);
    await tx.chatSessions.put({ ...at, id: `session of ${contactId}` });
    for (let number = 1; number <= messages; number += 1) {
      const messageId = newId('msg');
      await tx.messages.put({
        ...part,
        id: messageId,
        number,
        text: 'x',
        channelMessageId: null,
      } as unknown as Message);
      for (const textPart of [1, 2])
        await tx.outboundMessages.put({
          ...part,
          id: newId('out'),
          messageId,
          part: textPart,
          status: 'read',
          channelMessageId: null,
          ...outbound,
        } as OutboundMessage);
    }
    await tx.systemNotes.put({ ...part, id: newId('note') } as unknown as SystemNote);
    await tx.toolCalls.put({
      ...part,
      id: newId('call'),
      status: 'succeeded',
      ...call,
    } as ToolCall);
    await tx.payments.put({
      ...part,
      id: newId('pay'),
      status: 'paid',
      work: null,
      pageTokenHash: newId('pay'),
      ...payment,
    } as Payment);
    await tx.agentTurns.put({ id, number: 3 });
    await tx.jobs.enqueue({
      id,
      queue: AGENT_QUEUE,
      group: id,
      runAt: Date.now() + 1e9,
      rank: 0,
      data: {},
    });
    for (const memberId of ['mbr_1', 'mbr_2'])
      await tx.readMarks.put({ id: idOfReadMark(memberId, id), memberId, customerMessages: 1 });
    return conversation;
  }

  /** How many documents of each kind there are. */
  const left = () =>
    store.transaction(async (tx) => {
      const all = { where: {}, limit: 10_000 };
      const inWorkspace = { ...all, where: { workspaceId: WORKSPACE } };
      const contacts = { ...all, where: { workspaceId: WORKSPACE, phone: null } };
      const marksOf = (memberId: string) => tx.readMarks.find({ ...all, where: { memberId } });
      const count = async (found: Promise<readonly unknown[]>) => (await found).length;
      return {
        conversations: await count(tx.conversations.find(inWorkspace)),
        contacts: await count(tx.contacts.find(contacts)),
        contactReveals: await count(
          tx.contactReveals.find({ ...all, where: { apiKeyId: 'key_1' } }),
        ),
        chatSessions: await count(tx.chatSessions.find({ ...all, orderBy: 'createdAt' })),
        outboundMessages: await count(tx.outboundMessages.find(all)),
        toolCalls: await count(tx.toolCalls.find(all)),
        payments: await count(tx.payments.find(inWorkspace)),
        readMarks: (await count(marksOf('mbr_1'))) + (await count(marksOf('mbr_2'))),
      };
    });
  /** What `left` counts for one conversation of one message. */
  const one = {
    conversations: 1,
    contacts: 1,
    contactReveals: 1,
    chatSessions: 1,
    outboundMessages: 2,
    toolCalls: 1,
    payments: 1,
    readMarks: 2,
  };
  const none = Object.fromEntries(Object.keys(one).map((name) => [name, 0]));
  const sweep = (conversationDays: number) => sweepAll(store, NOW, { days: 365, conversationDays });
  /** The store, with a disk that is full after `maxTransactions`. */
  const failingAfter = (maxTransactions: number): Pick<ServiceStore, 'transaction'> => {
    let transactions = 0;
    return {
      transaction(fn) {
        transactions += 1;
        if (transactions > maxTransactions) throw new StoreUnavailable('the disk is full');
        return store.transaction(fn);
      },
    };
  };

  it('leaves nothing of a removed conversation, and nothing of its contact', async () => {
    const { id } = await store.transaction((tx) => put(tx, 31, { messages: 3 }));
    await sweep(0);
    expect(await left()).toEqual({ ...one, outboundMessages: 6 });
    await sweep(30);
    expect(await left()).toEqual(none);
    await store.transaction(async (tx) => {
      const ofIt = { where: { conversationId: id }, limit: 1 };
      expect(await tx.messages.find({ ...ofIt, orderBy: 'number' })).toEqual([]);
      expect(await tx.systemNotes.find({ ...ofIt, orderBy: 'afterMessage' })).toEqual([]);
      expect(await tx.agentTurns.get(id)).toBeNull();
    });
    expect((await store.stats()).queues[AGENT_QUEUE]?.waiting).toBe(0);
  });

  it('keeps a contact who has a younger conversation, with their session', async () => {
    const young = await store.transaction(async (tx) => {
      const { contactId } = await put(tx, 31);
      return put(tx, 29, { contactId });
    });
    await sweep(30);
    expect(await left()).toEqual({ ...one, contactReveals: 2 });
    expect(await store.transaction((tx) => tx.conversations.get(young.id))).toEqual(young);
  });

  it.each<[string, Parts]>([
    [
      'a payment that can still come',
      { payment: { status: 'open', expiresAt: daysAgo(-1), providerUrl: null } },
    ],
    [
      'a provider that still has to be told',
      {
        payment: { status: 'cancelled', work: { task: 'expire', attempts: 1, runAt: daysAgo(-1) } },
      },
    ],
    ['an approval', { call: { status: 'pending_approval' } }],
    ['a running tool call', { call: { status: 'running' } }],
    ['a text on its way', { outbound: { status: 'pending' } }],
  ])(
    'keeps a conversation that waits for %s, and removes others around it',
    async (_what, parts) => {
      const waiting = await store.transaction(async (tx) => {
        await put(tx, 33);
        const kept = await put(tx, 32, parts);
        await put(tx, 31);
        return kept;
      });
      await sweep(30);
      expect(await left()).toEqual(one);
      expect(await store.transaction((tx) => tx.conversations.get(waiting.id))).toEqual(waiting);
    },
  );

  it('removes a conversation that comes after hundreds that have to stay', async () => {
    await store.transaction(async (tx) => {
      for (let n = 0; n < 230; n += 1) await put(tx, 32, { call: { status: 'running' } });
      await put(tx, 31);
    });
    expect(await removeOldConversations({ store }, daysAgo(30), NOW)).toBe(1);
    expect((await left()).conversations).toBe(230);
  });

  it('removes hundreds of conversations and one of 1,200 messages in transactions of a few hundred documents', async () => {
    await store.transaction(async (tx) => {
      await put(tx, 40, { messages: 1200 });
      for (let n = 0; n < 250; n += 1) await put(tx, 31);
    });
    let most = 0;
    const counting = counted(store, { onRemoved: (removed) => (most = Math.max(most, removed)) });
    expect(await removeOldConversations({ store: counting }, daysAgo(30), NOW)).toBe(251);
    expect(await left()).toEqual(none);
    expect(most).toBeLessThan(800);
  });

  it('finishes in a workspace that has more members than a transaction may remove documents', async () => {
    const CONVERSATIONS = 100;
    // Together they have more members without a read mark than a PostgreSQL server has locks.
    await store.transaction(async (tx) => {
      for (let n = 0; n < 600; n += 1)
        await tx.members.put({
          id: `mbr_of_600_${n}`,
          workspaceId: WORKSPACE,
          email: `${n}`,
        } as Member);
      for (let n = 0; n < CONVERSATIONS; n += 1) await put(tx, 31);
    });
    const few = failingAfter(20);
    expect(await removeOldConversations({ store: few }, daysAgo(30), NOW)).toBe(CONVERSATIONS);
    expect(await left()).toEqual(none);
  });

  it('goes on after a failure in the middle; until then the conversation can be read', async () => {
    const { id } = await store.transaction((tx) => put(tx, 40, { messages: 1200 }));
    const failing = failingAfter(3);
    await expect(removeOldConversations({ store: failing }, daysAgo(30), NOW)).rejects.toThrow(
      'the disk is full',
    );
    const halfway = await left();
    expect(halfway).toMatchObject({ conversations: 1, contacts: 1, readMarks: 2 });
    expect(halfway.outboundMessages).toBeLessThan(2400);
    expect(await store.transaction((tx) => tx.conversations.get(id))).not.toBeNull();
    await sweep(30);
    expect(await left()).toEqual(none);
  });

  it('costs as much as there is to remove, not as much as is stored', async () => {
    await store.transaction(async (tx) => {
      for (let n = 0; n < 1000; n += 1) await put(tx, 29);
    });
    let reads = 0;
    const counting = counted(store, { onFound: (found) => (reads += found) });
    await removeOldConversations({ store: counting }, daysAgo(30), NOW);
    expect(reads).toBeLessThan(200);
    expect((await left()).conversations).toBe(1000);
  });

  describe('deliveries that wait', () => {
    const RETENTION = { days: 30, conversationDays: 0 };
    /** @param nextDays how many days ago its next attempt was due; null when it has failed */
    const putOwed = async (tx: Tx, nextDays: number | null): Promise<Delivery> => {
      const createdAt = daysAgo(32);
      const owed = storedDelivery({
        status: nextDays === null ? 'failed' : 'pending',
        nextAttemptAt: nextDays === null ? null : daysAgo(nextDays),
        createdAt,
      });
      await tx.deliveries.put(owed);
      await tx.events.put(storedEvent({ id: owed.eventId, createdAt }));
      if (nextDays !== null)
        await tx.jobs.enqueue({
          id: owed.id,
          queue: DELIVERY_QUEUE,
          group: owed.subscriptionId,
          runAt: Date.parse(owed.nextAttemptAt!),
          rank: 0,
          data: {},
        });
      return owed;
    };

    it('are given up, with job and event, once they have been due for RETENTION_DAYS; one queued again lately keeps its event', async () => {
      const [, again] = await store.transaction(async (tx) => [
        await putOwed(tx, 31),
        await putOwed(tx, 0.5),
        await putOwed(tx, null),
      ]);
      expect(await sweepAll(store, NOW, RETENTION)).toEqual({ givenUp: 1 });
      await store.transaction(async (tx) => {
        expect(await tx.deliveries.find({ where: {}, limit: 10 })).toEqual([again]);
        const events = await tx.events.find({ where: {}, limit: 10 });
        expect(events).toMatchObject([{ id: again!.eventId }]);
      });
      expect((await store.stats()).queues[DELIVERY_QUEUE]?.waiting).toBe(1);
    });

    it('are removed in small transactions, even 10,000 of them', async () => {
      for (let n = 0; n < 20; n += 1)
        await store.transaction(async (tx) => {
          for (let i = 0; i < 500; i += 1) await putOwed(tx, 31);
        });
      let most = 0;
      const counting = counted(store, { onRemoved: (removed) => (most = Math.max(most, removed)) });
      expect(await sweepAll(counting, NOW, RETENTION)).toEqual({ givenUp: 10_000 });
      expect(most).toBeLessThanOrEqual(500);
      expect((await store.stats()).queues[DELIVERY_QUEUE]?.waiting).toBe(0);
    });
  });
});

/** Counts what each transaction removes, and what its queries find. */
function counted(
  store: ServiceStore,
  on: { onRemoved?: (count: number) => void; onFound?: (count: number) => void },
): ServiceStore {
  const transaction: ServiceStore['transaction'] = (fn) =>
    store.transaction(async (tx) => {
      let removed = 0;
      const counting = new Proxy(tx, {
        get: (target, name: keyof Tx) => {
          if (name === 'jobs') return target.jobs;
          const collection = target[name] as Collection<Document>;
          return {
            get: (id: string) => collection.get(id),
            peek: (id: string) => collection.peek(id),
            put: (document: Document) => collection.put(document),
            delete: async (id: string) => {
              const was = await collection.delete(id);
              removed += Number(was);
              return was;
            },
            find: async (query: Query<Document>) => {
              const found = await collection.find(query);
              on.onFound?.(found.length);
              return found;
            },
          };
        },
      });
      const result = await fn(counting as Tx);
      on.onRemoved?.(removed);
      return result;
    });
  return Object.assign(Object.create(store), { transaction }) as ServiceStore;
}
