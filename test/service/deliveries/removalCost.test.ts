import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collections } from '../../../service/src/app/collections.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { queueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import { deleteSubscription } from '../../../service/src/deliveries/operations/deleteSubscription.ts';
import type { WantedSubscription } from '../../../service/src/deliveries/subscription.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { bytesInFolder } from '../../helpers/folderFiles.ts';
import { storedEvent } from '../../helpers/storedDelivery.ts';
import { testDeps } from '../../helpers/testDeps.ts';

const WANTED = {
  events: ['message.sent'],
  targetUrl: 'https://receiver.example/hook',
  source: 'n8n',
} satisfies WantedSubscription;
const PENDING = 2_000;
/** A handful of small documents. */
const LITTLE_BYTES = 4096;

describe('a subscription with 2,000 pending deliveries', () => {
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

  it('is removed and revived by writing a handful of documents, so that no other write has to wait long', async () => {
    const deps = testDeps({ store, agent: {} as never });
    const workspace = await createWorkspace(deps, 'Test');
    const { subscription } = await createSubscription(deps, workspace, WANTED);
    await store.transaction(async (tx) => {
      for (let n = 0; n < PENDING; n++) {
        const event = storedEvent({ workspaceId: workspace.id });
        await queueDelivery(tx, event, subscription.id, new Date());
      }
    });
    const full = await bytesInFolder(folder);
    expect(full).toBeGreaterThan(PENDING * 100);

    await deleteSubscription(deps, workspace, subscription.id);
    const removed = await bytesInFolder(folder);
    expect(removed - full).toBeLessThan(LITTLE_BYTES);

    const { subscription: revived } = await createSubscription(deps, workspace, WANTED);
    expect((await bytesInFolder(folder)) - removed).toBeLessThan(LITTLE_BYTES);
    const where = { subscriptionId: revived.id, status: 'pending' } as const;
    const pending = await store.transaction((tx) => tx.deliveries.find({ where, limit: 10_000 }));
    expect(pending).toHaveLength(PENDING);
  });
});
