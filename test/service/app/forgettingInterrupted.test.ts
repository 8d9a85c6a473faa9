// A contact with much to remove is forgotten in steps, whatever happens between them.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { forgetNext, startForgetting } from '../../../service/src/app/retention/forgetContacts.ts';
import { sweepAll } from '../../../service/src/app/retention/housekeeping.ts';
import { forgetContact } from '../../../service/src/conversations/contacts/forgetContact.ts';
import {
  FORGETTING_QUEUE,
  type Contact,
  type Forgetting,
} from '../../../service/src/conversations/contact.ts';
import { listReveals } from '../../../service/src/conversations/contacts/reveals.ts';
import { listConversations } from '../../../service/src/conversations/operations/listConversations.ts';
import { NO_FILTER } from '../../../service/src/inbox/filter.ts';
import { listInbox } from '../../../service/src/inbox/listInbox.ts';
import { listWaiting } from '../../../service/src/inbox/waiting/listWaiting.ts';
import { openConversation } from '../../../service/src/conversations/conversation.ts';
import type { Message } from '../../../service/src/conversations/message.ts';
import type { OutboundMessage } from '../../../service/src/channels/outbound/outboundMessage.ts';
import type { SystemNote } from '../../../service/src/conversations/systemNote.ts';
import type { ToolCall } from '../../../service/src/tools/calls/toolCall.ts';
import type { WebhookTurn } from '../../../service/src/agent/webhook/webhookTurn.ts';
import type { Event } from '../../../service/src/deliveries/event.ts';
import type { Increment } from '../../../service/src/platform/counting/count.ts';
import { systemClock, timestamp } from '../../../service/src/platform/clock.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import type { ServiceStore, Tx } from '../../../service/src/store/collections.ts';
import { listToolCalls } from '../../../service/src/tools/operations/toolCalls.ts';
import { listWaits } from '../../../service/src/waits/operations/waits.ts';
import { NEW_WAIT, type Wait } from '../../../service/src/waits/wait.ts';
import type { Member, Workspace } from '../../../service/src/team/workspace.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import type { WorkDeps } from '../../../service/src/platform/jobs/worker.ts';
import { openStoreOf } from '../../helpers/openStore.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { textOf } from './textOfStore.ts';

describe('forgetting that is interrupted', () => {
  const MESSAGES = 1300;
  const PLACE = { tab: 'all', filter: NO_FILTER, after: null } as const;
  const workspace = { id: 'ws_1', slug: 'w' } as Workspace;
  let storage: Storage;
  let store: ServiceStore;
  let contactId: string;
  beforeEach(async () => {
    storage = await freshStorage();
    store = await openStoreOf(storage.env);
    contactId = newId('ctc');
    await fill();
  });
  afterEach(async () => {
    await store.close();
    await storage.remove();
  });

  /** A contact with two conversations, and events of another conversation between theirs. */
  async function fill() {
    const createdAt = timestamp(new Date());
    const at = { workspaceId: workspace.id, createdAt };
    const contact = { id: contactId, channel: 'web_chat', name: 'Zoraida', phone: null } as const;
    await store.transaction(async (tx) => {
      await tx.workspaces.put(workspace);
      await tx.contacts.put({ ...contact, email: null, verified: false, ...at } as Contact);
    });
    const ids = [newId('conv'), newId('conv')];
    for (const id of ids)
      await store.transaction(async (tx) => {
        const start = { id, workspaceId: workspace.id, contactId, channel: 'web_chat' } as const;
        const open = openConversation({ ...start, previousConversationId: null }, new Date());
        await tx.conversations.put({ ...open, messageCount: MESSAGES / 2 });
        for (let number = 1; number <= MESSAGES / 2; number += 1) {
          const text = `Zoraida ${number}`;
          const sender = { type: 'customer', name: 'Zoraida' };
          const place = { id: newId('msg'), conversationId: id, contactId, number };
          const message = { ...place, text, sender, ...at };
          await tx.messages.put({ ...message, channelMessageId: null } as unknown as Message);
        }
      });
    await store.transaction((tx) => putParts(tx, ids[0]!, at));
    for (let n = 0; n < 6; n += 1)
      await store.transaction(async (tx) => {
        for (let each = 0; each < 200; each += 1) {
          const eventId = newId('evt');
          const isTheirs = each % 2 === 0;
          const conversationId = isTheirs ? ids[n % 2]! : 'conv_other';
          await tx.events.put({
            id: eventId,
            name: 'message.received',
            conversationId,
            body: isTheirs ? '{"name":"Zoraida"}' : '{}',
            ...at,
          } as Event);
          const delivery = { id: newId('dlv'), subscriptionId: 'sub_gone', eventId, ...at };
          await tx.deliveries.put({ ...delivery, status: 'delivered', attempts: [] } as never);
        }
      });
  }

  /** One of everything that a service writes only for a workflow, a tool or a channel. */
  async function putParts(tx: Tx, id: string, at: { workspaceId: string; createdAt: string }) {
    const part = { conversationId: id, contactId, afterMessage: 1, ...at };
    const call = {
      toolId: null,
      tool: 'refund',
      kind: 'Webhook',
      arguments: { to: 'Zoraida' },
      conversationId: id,
      purpose: 'agent',
    } as const;
    for (const status of ['pending_approval', 'running', 'succeeded'] as const)
      await tx.toolCalls.put({
        ...part,
        ...call,
        id: newId('call'),
        status,
        attempts: 1,
        durationMs: 5,
        resultJson: '"Zoraida"',
      } as unknown as ToolCall);
    const change = { type: 'team_note', text: 'Zoraida' };
    await tx.systemNotes.put({ id: newId('note'), change, ...part } as unknown as SystemNote);
    await tx.webhookTurns.put({
      id: newId('turn'),
      status: 'running',
      problem: 'Zoraida',
      ...part,
    } as unknown as WebhookTurn);
    const [message] = await tx.messages.find({
      where: { conversationId: id },
      orderBy: 'number',
      limit: 1,
    });
    await tx.outboundMessages.put({
      id: newId('out'),
      messageId: message!.id,
      part: 1,
      text: 'Zoraida',
      status: 'pending',
      channelMessageId: null,
      ...part,
    } as unknown as OutboundMessage);
    await tx.chatSessions.put({ id: 'hash', contactId, ...at });
    await tx.contactReveals.put({
      id: newId('rvl'),
      contactId,
      apiKeyId: 'key_1',
      apiKeyName: 'n8n',
      ...at,
    });
  }

  const totals = (increments: readonly Pick<Increment, 'counts'>[]) => {
    const all: Record<string, number> = {};
    for (const { counts } of increments)
      for (const [key, count] of Object.entries(counts)) all[key] = (all[key] ?? 0) + count;
    return all;
  };

  const recordOf = () =>
    store.transaction(
      async (tx): Promise<Forgetting | undefined> => (await tx.contacts.peek(contactId))?.forgotten,
    );
  const deps = () => ({ store, clock: systemClock }) as unknown as Deps;
  const begin = (within = workspace) =>
    forgetContact(deps(), within, contactId, { type: 'team_member', name: 'ana' });
  /** @returns what was removed of each kind */
  const finish = async () => {
    const worker = startForgetting({ deps: deps() as WorkDeps, log: pino({ level: 'silent' }) });
    await waitFor('the rest', async () => (await recordOf())?.finishedAt);
    await worker.stop();
    return (await recordOf())!.removed;
  };

  it('shows nothing of the contact from the first moment on, while most is still stored', async () => {
    const member = { id: 'mbr_1', workspaceId: workspace.id } as Member;
    const wait = { kind: 'decision', status: 'open', message: 'Zoraida?', accept: {}, contactId };
    await store.transaction(async (tx) => {
      const [conversation] = await tx.conversations.find({ where: { contactId }, limit: 1 });
      await tx.waits.put({
        ...wait,
        id: newId('wait'),
        workspaceId: workspace.id,
        conversationId: conversation!.id,
        createdAt: timestamp(new Date()),
      } as unknown as Wait);
      const ended = { ...NEW_WAIT, ...wait, status: 'approved', endedAt: timestamp(new Date()) };
      await tx.waits.put({
        ...ended,
        id: newId('wait'),
        workspaceId: workspace.id,
        conversationId: conversation!.id,
        createdAt: timestamp(new Date()),
      } as unknown as Wait);
    });
    const lists = async () => ({
      api: (await listConversations(deps(), workspace, { fields: {}, q: '' }, { limit: 50 })).items,
      inbox: (await listInbox(deps(), member, { ...PLACE, search: '' })).items,
      search: (await listInbox(deps(), member, { ...PLACE, search: 'Zoraida 7' })).items,
      decisions: (await listWaiting(deps(), workspace)).items,
      ended: (await listWaiting(deps(), workspace)).ended,
      calls: (await listToolCalls(deps(), workspace, {}, { limit: 50, cursor: null })).items,
    });
    const before = Object.entries(await lists()).map(([name, items]) => [name, items.length]);
    expect(before).toEqual([
      ['api', 2],
      ['inbox', 2],
      ['search', 2],
      ['decisions', 2],
      ['ended', 1],
      ['calls', 3],
    ]);
    await begin();
    for (const [name, items] of Object.entries(await lists()))
      expect([name, items]).toEqual([name, []]);
    const waits = await listWaits(deps(), workspace, {}, { limit: 50, cursor: null });
    expect(waits.items.map(({ wait }) => [wait.message, wait.isCleared])).toEqual([
      ['', true],
      ['', true],
    ]);
    const reveals = await listReveals(deps(), 'key_1', { limit: 50, cursor: null });
    const links = reveals.items.map(({ conversationId }) => conversationId);
    expect(new Set(links)).toEqual(new Set([null]));
  });

  it.each([1, 3, 6])(
    'goes on after a kill that follows batch %i, and counts nothing twice',
    async (n) => {
      await begin();
      const claim = { queue: FORGETTING_QUEUE, limit: 1, freeSlots: () => 1, leaseMs: 60_000 };
      expect(await store.claim(claim)).toHaveLength(1);
      for (let batch = 0; batch < n; batch += 1)
        expect(await forgetNext(deps(), contactId)).toBe(false);
      await store.close();
      await storage.leasesRunOut();
      store = await openStoreOf(storage.env);
      expect(await finish()).toEqual({
        conversations: 2,
        messages: MESSAGES,
        notes: 1,
        toolCalls: 3,
        agentTurns: 1,
        outboundTexts: 1,
        chatSessions: 1,
        reveals: 1,
        events: 600,
        deliveries: 600,
      });
      // What had not ended is counted as cancelled, once.
      const counted = await store.transaction((tx) =>
        tx.increments.find({ where: {}, limit: 100 }),
      );
      expect(totals(counted)).toEqual({
        'approval tool cancelled': 1,
        'tool_call - cancelled': 2,
        'tool_time - 9': 2,
      });
      const text = await textOf(store);
      expect(text).not.toContain('Zoraida');
      expect((text.match(/"conv_other"/g) ?? []).length).toBe(600);
      expect((await store.stats()).queues.forgetting?.waiting ?? 0).toBe(0);
    },
  );

  it('removes many waits in several batches', async () => {
    await store.transaction(async (tx) => {
      const [conversation] = await tx.conversations.find({ where: { contactId }, limit: 1 });
      const at = timestamp(new Date());
      const ended = { status: 'approved', isCounted: true, endedAt: at, createdAt: at } as const;
      const place = { workspaceId: workspace.id, conversationId: conversation!.id, contactId };
      for (let each = 0; each < 1200; each += 1)
        await tx.waits.put({
          ...NEW_WAIT,
          ...ended,
          ...place,
          id: newId('wait'),
        } as unknown as Wait);
    });
    await begin();
    const questions: (number | undefined)[] = [];
    for (let batch = 0; batch < 3; batch += 1) {
      await forgetNext(deps(), contactId);
      questions.push((await recordOf())?.removed.questions);
    }
    expect(questions[0]).toBeLessThanOrEqual(500);
    expect(questions[2]).toBe(1200);
  });

  it('finishes, and keeps its record, when retention removes the same conversations beside it', async () => {
    await begin();
    const later = new Date(Date.now() + 10 * 86_400_000);
    await sweepAll(store, later, { days: 30, conversationDays: 1 });
    expect(await finish()).toMatchObject({ events: 600, deliveries: 600 });
    expect(await textOf(store)).not.toContain('Zoraida');
  });

  it('begins once, when two ask', async () => {
    const [a, b] = await Promise.all([begin(), begin()]);
    expect(a.forgotten?.at).toBe(b.forgotten?.at);
    const other = { id: 'ws_2' } as Workspace;
    await expect(begin(other)).rejects.toMatchObject({ code: 'not_found' });
  });
});
