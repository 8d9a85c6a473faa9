import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import { emit } from '../../../service/src/deliveries/operations/emit.ts';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import { deleteSubscription } from '../../../service/src/deliveries/operations/deleteSubscription.ts';
import { updateSubscription } from '../../../service/src/deliveries/operations/updateSubscription.ts';
import type { Subscription } from '../../../service/src/deliveries/subscription.ts';
import { subscriptionJson } from '../../../service/src/deliveries/views.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { testDeps } from '../../helpers/testDeps.ts';

describe('a subscription of one event, as the first release stored it', () => {
  let storage: FreshStore;
  let deps: Deps;
  let workspace: Workspace;
  let stored: Subscription;
  beforeEach(async () => {
    storage = await openFreshStore();
    deps = testDeps({ store: storage.store, agent: {} as never });
    workspace = await createWorkspace(deps, 'Test');
    stored = {
      id: newId('sub'),
      workspaceId: workspace.id,
      event: 'message.sent',
      targetUrl: 'https://receiver.example/hook',
      source: 'n8n',
      secrets: [],
      revision: 1,
      removedAt: null,
      consecutiveFailures: 0,
      lastDeliveryAt: null,
      createdAt: timestamp(new Date()),
    };
    await storage.store.transaction((tx) => tx.subscriptions.put(stored));
  });
  afterEach(() => storage?.remove());

  const emitted = async (name: 'message.sent' | 'message.received') => {
    const { store } = storage;
    const event = {
      workspaceId: workspace.id,
      name,
      conversationId: 'conv_1',
      contactId: 'ctc_1',
      facts: { sender: 'api' },
      payload: () => ({}),
    } as const;
    await store.transaction((tx) => emit(tx, event, new Date()));
    const owed = await store.transaction((tx) =>
      tx.deliveries.find({ where: { subscriptionId: stored.id }, limit: 10 }),
    );
    return owed.map((each) => each.event);
  };

  it('still gets its event, and no other', async () => {
    expect(await emitted('message.received')).toEqual([]);
    expect(await emitted('message.sent')).toEqual(['message.sent']);
    expect(subscriptionJson(stored)).toMatchObject({
      event: 'message.sent',
      events: ['message.sent'],
      filter: null,
      owner: null,
      paused: false,
      catch_up: false,
    });
  });

  it('can be changed, removed and revived', async () => {
    await updateSubscription(deps, workspace, stored.id, { filter: { senders: ['agent'] } });
    expect(await emitted('message.sent')).toEqual([]);
    await deleteSubscription(deps, workspace, stored.id);
    const { subscription } = await createSubscription(deps, workspace, {
      events: ['message.received', 'message.sent'],
      targetUrl: stored.targetUrl,
      source: 'n8n',
    });
    expect(subscription).toMatchObject({ id: stored.id, revision: 2, filter: null });
    expect(await emitted('message.received')).toEqual(['message.received']);
  });
});
