import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { timestamp } from '../../service/src/domain/clock.ts';
import { collections, type ServiceStore } from '../../service/src/domain/collections.ts';
import type { Delivery } from '../../service/src/domain/delivery.ts';
import { newId } from '../../service/src/domain/ids.ts';
import type { ToolCall } from '../../service/src/domain/toolCall.ts';
import { sweepAll } from '../../service/src/housekeeping.ts';
import { openLowdbStore } from '../../service/src/store/lowdb/index.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const daysAgo = (days: number) => timestamp(new Date(NOW.getTime() - days * 86_400_000));

describe('housekeeping', () => {
  let folder: string;
  let store: ServiceStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    store = await openLowdbStore(collections, { folder });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('removes old events, finished deliveries and expired answers and sessions, and nothing else', async () => {
    const delivery = (createdAt: string, status: Delivery['status']): Delivery => ({
      id: newId('dlv'), workspaceId: 'w', subscriptionId: 's', eventId: newId('evt'), event: 'message.sent', status, attempts: [],
      roundStart: 0, trigger: 'automatic', everDelivered: false, nextAttemptAt: null, createdAt,
    });
    await store.transaction(async (tx) => {
      for (let n = 0; n < 1200; n++) await tx.deliveries.put(delivery(daysAgo(31), 'delivered'));
      await tx.deliveries.put(delivery(daysAgo(31), 'pending'));
      await tx.deliveries.put(delivery(daysAgo(29), 'failed'));
      for (const days of [31, 29]) await tx.events.put({ id: newId('evt'), workspaceId: 'w', name: 'message.sent', conversationId: null, body: '{}', createdAt: daysAgo(days) });
      for (const [status, days] of [['succeeded', 31], ['pending_approval', 31], ['failed', 29]] as const) {
        await tx.toolCalls.put({ id: newId('call'), workspaceId: 'w', status, createdAt: daysAgo(days) } as ToolCall);
      }
      for (const [id, days] of [['old', 0.1], ['new', -0.1]] as const) {
        await tx.idempotentAnswers.put({ id, kind: 'idempotent_answer', requestHash: '', status: 200, body: '', expiresAt: daysAgo(days) });
        await tx.sessions.put({ id, kind: 'session', memberId: 'm', workspaceId: 'w', csrfToken: '', createdAt: daysAgo(8), expiresAt: daysAgo(days) });
      }
    });
    await sweepAll(store, NOW, 30);
    await store.transaction(async (tx) => {
      const left = await tx.deliveries.find({ where: {}, limit: 10_000 });
      expect(left.map(({ status, createdAt }) => [status, createdAt])).toEqual([['pending', daysAgo(31)], ['failed', daysAgo(29)]]);
      expect((await tx.events.find({ where: {}, limit: 10 })).map(({ createdAt }) => createdAt)).toEqual([daysAgo(29)]);
      expect(await tx.idempotentAnswers.get('old')).toBeNull();
      expect(await tx.idempotentAnswers.get('new')).not.toBeNull();
      expect(await tx.sessions.get('old')).toBeNull();
      expect(await tx.sessions.get('new')).not.toBeNull();
      const calls = await tx.toolCalls.find({ where: {}, limit: 10 });
      expect(calls.map(({ status, createdAt }) => [status, createdAt])).toEqual([['pending_approval', daysAgo(31)], ['failed', daysAgo(29)]]);
    });
  });
});
