// Results of attempts, as they are recorded in batches.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import { queueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { stampRequest } from '../../../service/src/deliveries/request.ts';
import {
  recordResults,
  type MadeAttempt,
} from '../../../service/src/deliveries/sending/recordResult.ts';
import type { Subscription } from '../../../service/src/deliveries/subscription.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import type { Tx } from '../../../service/src/store/collections.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { overriding } from '../../helpers/overriding.ts';
import { storedEvent } from '../../helpers/storedDelivery.ts';
import { testDeps } from '../../helpers/testDeps.ts';

describe('results of attempts', () => {
  let fresh: FreshStore;
  let deps: Deps;
  let subscription: Subscription;
  beforeEach(async () => {
    fresh = await openFreshStore();
    deps = testDeps({ store: fresh.store, agent: {} as never });
    const workspace = await createWorkspace(deps, 'Test');
    ({ subscription } = await createSubscription(deps, workspace, {
      events: ['message.sent'],
      targetUrl: 'https://receiver.example/hook',
      source: 'test',
    }));
  });
  afterEach(() => fresh.remove());

  const make = async (statusCode: number, at: Date): Promise<MadeAttempt> => {
    const { id: subscriptionId, revision, targetUrl, workspaceId } = subscription;
    const event = storedEvent({ workspaceId });
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
    return { deliveryId, subscriptionId, revision, targetUrl, nextAttemptAt, result, at };
  };
  const stored = () => fresh.store.transaction((tx) => tx.subscriptions.peek(subscription.id));

  it('leave the time of the last delivery alone when an earlier attempt ends later', async () => {
    const later = new Date();
    const earlier = new Date(later.getTime() - 10_000);
    const record = async (statusCode: number, at: Date) => {
      await recordResults(deps, [await make(statusCode, at)], []);
      return stored();
    };
    const { lastDeliveryAt } = (await record(200, later))!;
    expect(await record(200, earlier)).toMatchObject({ lastDeliveryAt });
    expect(await record(400, earlier)).toMatchObject({ lastDeliveryAt, consecutiveFailures: 1 });
  });

  it('are recorded together with one read of their subscription', async () => {
    const now = new Date();
    await recordResults(deps, [await make(200, now)], []);
    const attempts: MadeAttempt[] = [];
    for (let n = 0; n < 20; n += 1) attempts.push(await make(200, now));
    let reads = 0;
    const counted = (tx: Tx): Tx => {
      const { subscriptions } = tx;
      const read = (id: string) => {
        reads += 1;
        return subscriptions.peek(id);
      };
      return overriding(tx, 'subscriptions', overriding(subscriptions, 'peek', read));
    };
    const store = overriding(fresh.store, 'transaction', (fn) =>
      fresh.store.transaction((tx) => fn(counted(tx))),
    );
    const recorded = await recordResults({ ...deps, store }, attempts, []);
    expect(recorded.map((delivery) => delivery?.status)).toEqual(Array(20).fill('delivered'));
    expect(reads).toBe(1);
  });
});
