import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { ServiceStore, Tx } from '../../../service/src/store/collections.ts';
import type { Conversation } from '../../../service/src/conversations/conversation.ts';
import type { DeliveryStatus } from '../../../service/src/deliveries/delivery.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import type { OutboundMessage } from '../../../service/src/channels/outbound/outboundMessage.ts';
import type { WebhookTurn } from '../../../service/src/agent/webhook/webhookTurn.ts';
import type { ToolCall } from '../../../service/src/tools/calls/toolCall.ts';
import { sweepAll } from '../../../service/src/app/retention/housekeeping.ts';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { startTestService } from '../../helpers/service.ts';
import { storedDelivery, storedEvent } from '../../helpers/storedDelivery.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const RETENTION = { days: 30, conversationDays: 0 };
const daysAgo = (days: number) => timestamp(new Date(NOW.getTime() - days * 86_400_000));

describe('housekeeping', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
  });
  afterEach(() => fresh.remove());

  it('removes old events, finished deliveries, tool calls, turns and outbound messages, and expired answers and sessions, and nothing else', async () => {
    await store.transaction(async (tx) => {
      const putDelivery = (status: DeliveryStatus, days: number) =>
        tx.deliveries.put(storedDelivery({ status, createdAt: daysAgo(days) }));
      for (let n = 0; n < 1200; n++) await putDelivery('delivered', 31);
      await putDelivery('pending', 31);
      await putDelivery('failed', 29);
      for (const days of [31, 29]) await tx.events.put(storedEvent({ createdAt: daysAgo(days) }));
      for (const [status, days, finishedDays] of [
        ['succeeded', 32, 31],
        ['rejected', 31, 29],
        ['pending_approval', 31, null],
        ['failed', 29, 29],
      ] as const) {
        await tx.toolCalls.put({
          id: newId('call'),
          workspaceId: 'w',
          status,
          createdAt: daysAgo(days),
          finishedAt: finishedDays === null ? null : daysAgo(finishedDays),
        } as ToolCall);
      }
      for (const endedDays of [31, 29]) {
        await tx.webhookTurns.put({
          id: newId('turn'),
          workspaceId: 'w',
          status: 'answered',
          createdAt: daysAgo(32),
          endedAt: daysAgo(endedDays),
        } as WebhookTurn);
      }
      for (const [status, days] of [
        ['read', 31],
        ['pending', 31],
        ['failed', 31],
        ['sent', 29],
      ] as const) {
        await tx.outboundMessages.put({
          id: newId('out'),
          workspaceId: 'w',
          contactId: 'c',
          messageId: 'm',
          part: 1,
          channelMessageId: null,
          status,
          createdAt: daysAgo(days),
        } as OutboundMessage);
      }
      for (const [id, days] of [
        ['old', 0.1],
        ['new', -0.1],
      ] as const) {
        await tx.idempotentAnswers.put({
          id,
          kind: 'idempotent_answer',
          requestHash: '',
          status: 200,
          sealedBody: '',
          expiresAt: daysAgo(days),
        });
        await tx.sessions.put({
          id,
          kind: 'session',
          memberId: 'm',
          workspaceId: 'w',
          createdAt: daysAgo(8),
          expiresAt: daysAgo(days),
        });
      }
    });
    await sweepAll(store, NOW, RETENTION);
    await store.transaction(async (tx) => {
      const all = { where: {}, limit: 10_000 };
      const statuses = (found: readonly { status: string; createdAt: string }[]) =>
        found.map(({ status, createdAt }) => [status, createdAt]);
      expect(statuses(await tx.deliveries.find(all))).toEqual([
        ['pending', daysAgo(31)],
        ['failed', daysAgo(29)],
      ]);
      expect(await tx.events.find(all)).toMatchObject([{ createdAt: daysAgo(29) }]);
      expect(await tx.idempotentAnswers.get('old')).toBeNull();
      expect(await tx.idempotentAnswers.get('new')).not.toBeNull();
      expect(await tx.sessions.get('old')).toBeNull();
      expect(await tx.sessions.get('new')).not.toBeNull();
      expect(statuses(await tx.toolCalls.find(all))).toEqual([
        ['rejected', daysAgo(31)],
        ['pending_approval', daysAgo(31)],
        ['failed', daysAgo(29)],
      ]);
      expect(await tx.webhookTurns.find(all)).toMatchObject([{ endedAt: daysAgo(29) }]);
      expect(statuses(await tx.outboundMessages.find(all))).toEqual([
        ['pending', daysAgo(31)],
        ['sent', daysAgo(29)],
      ]);
    });
  });

  it('removes visitors of the chat who have not written within a day, with their contact, and nobody else', async () => {
    const arrive = async (tx: Tx, id: string, days: number) => {
      const createdAt = daysAgo(days);
      const contactId = `ctc_${id}`;
      await tx.contacts.put({
        id: contactId,
        workspaceId: 'w',
        channel: 'web_chat',
        name: null,
        phone: null,
        email: null,
        verified: false,
        createdAt,
      });
      await tx.chatSessions.put({ id, workspaceId: 'w', contactId, createdAt });
    };
    const write = (tx: Tx, id: string) =>
      tx.conversations.put({
        id: `conv_${id}`,
        workspaceId: 'w',
        contactId: `ctc_${id}`,
      } as Conversation);
    const left = () =>
      store.transaction(async (tx) => {
        const all = { where: {}, orderBy: 'createdAt', limit: 2000 } as const;
        const sessions = (await tx.chatSessions.find(all)).map(({ id }) => id);
        for (const id of ['silent', 'writer', 'young', 'later', 'silent-7'])
          expect((await tx.contacts.get(`ctc_${id}`)) !== null).toBe(sessions.includes(id));
        return sessions;
      });
    await store.transaction(async (tx) => {
      for (let n = 0; n < 1200; n++) await arrive(tx, `silent-${n}`, 3);
      await arrive(tx, 'writer', 2.5);
      await write(tx, 'writer');
      await arrive(tx, 'silent', 1.01);
      await arrive(tx, 'young', 0.99);
    });
    await sweepAll(store, NOW, RETENTION);
    expect(await left()).toEqual(['writer', 'young']);
    await store.transaction(async (tx) => {
      await arrive(tx, 'later', 0.5);
      await write(tx, 'later');
    });
    await sweepAll(store, new Date(NOW.getTime() + 86_400_000), RETENTION);
    expect(await left()).toEqual(['writer', 'later']);
  });

  it('no longer knows the token of a visitor who never wrote, and gives a new one', async () => {
    let now = new Date();
    const service = await startTestService({ clock: { now: () => now } });
    try {
      const [silent, writer] = [await chatCustomer(service.url), await chatCustomer(service.url)];
      await writer.write('hello');
      now = new Date(now.getTime() + 25 * 3_600_000);
      await service.restart();
      const statusOf = async (token: string) =>
        (await apiClient(service.url, token).get('/api/chat/messages')).status;
      await waitFor('the sweep', async () => (await statusOf(silent.token)) === 401);
      expect(await statusOf(writer.token)).toBe(200);
      await (await chatCustomer(service.url)).write('again');
    } finally {
      await service.stop();
    }
  });
});
