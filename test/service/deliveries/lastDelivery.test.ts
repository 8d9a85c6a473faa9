// Attempts are recorded in the order in which they end, not in which they began.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { queueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import { stampRequest } from '../../../service/src/deliveries/request.ts';
import { recordResults } from '../../../service/src/deliveries/sending/recordResult.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { storedEvent } from '../../helpers/storedDelivery.ts';
import { testDeps } from '../../helpers/testDeps.ts';

describe('the time of the last delivery', () => {
  let fresh: FreshStore;
  let deps: Deps;
  beforeEach(async () => {
    fresh = await openFreshStore();
    deps = testDeps({ store: fresh.store, agent: {} as never });
  });
  afterEach(() => fresh.remove());

  it('does not go back when an earlier attempt ends later', async () => {
    const workspace = await createWorkspace(deps, 'Test');
    const { subscription } = await createSubscription(deps, workspace, {
      events: ['message.sent'],
      targetUrl: 'https://receiver.example/hook',
      source: 'test',
    });
    const { id: subscriptionId, revision, targetUrl } = subscription;
    const record = async (statusCode: number, at: Date) => {
      const event = storedEvent({ workspaceId: workspace.id });
      const { id: deliveryId, nextAttemptAt } = await fresh.store.transaction((tx) =>
        queueDelivery(tx, event, subscriptionId, new Date()),
      );
      const result = {
        request: stampRequest(event, [], at, null),
        verdict: statusCode === 200 ? 'success' : 'failure',
        statusCode,
        durationMs: 1,
        error: null,
        errorKind: null,
        responseExcerpt: null,
      } as const;
      const made = { deliveryId, subscriptionId, revision, targetUrl, nextAttemptAt, result, at };
      await recordResults(deps, [made], []);
      return fresh.store.transaction((tx) => tx.subscriptions.peek(subscriptionId));
    };
    const later = new Date();
    const earlier = new Date(later.getTime() - 10_000);
    const { lastDeliveryAt } = (await record(200, later))!;
    expect(await record(200, earlier)).toMatchObject({ lastDeliveryAt });
    expect(await record(400, earlier)).toMatchObject({ lastDeliveryAt, consecutiveFailures: 1 });
  });
});
