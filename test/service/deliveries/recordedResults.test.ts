// Results of attempts, as they are recorded in batches.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import {
  recordResults,
  type MadeAttempt,
} from '../../../service/src/deliveries/sending/recordResult.ts';
import type { Subscription } from '../../../service/src/deliveries/subscription.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { peekingThrough } from '../../helpers/peekingThrough.ts';
import { testDeps } from '../../helpers/testDeps.ts';
import { madeAttempt } from './madeAttempt.ts';

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

  /** Records attempts in one batch, none of which is repeated. @returns the subscription after it */
  const record = async (...attempts: readonly MadeAttempt[]) => {
    await recordResults(deps, attempts, []);
    return fresh.store.transaction((tx) => tx.subscriptions.peek(subscription.id));
  };
  const make = (statusCode: number, at?: Date) =>
    madeAttempt(fresh.store, subscription, statusCode, at);
  const batchOf = (...statusCodes: readonly number[]) =>
    Promise.all(statusCodes.map((statusCode) => make(statusCode)));

  it('leave the time of the last delivery alone when an earlier attempt ends later', async () => {
    const later = new Date();
    const earlier = new Date(later.getTime() - 10_000);
    const { lastDeliveryAt } = (await record(await make(200, later)))!;
    expect(await record(await make(200, earlier))).toMatchObject({ lastDeliveryAt });
    expect(await record(await make(400, earlier))).toMatchObject({
      lastDeliveryAt,
      consecutiveFailures: 1,
    });
  });

  it('of one batch count one after the other for their subscription', async () => {
    expect(await record(...(await batchOf(400, 503)))).toMatchObject({
      consecutiveFailures: 2,
      isAfterOutage: true,
    });
    expect(await record(...(await batchOf(503, 200, 400)))).toMatchObject({
      consecutiveFailures: 1,
      isAfterOutage: false,
    });
    // After a 410 there is no subscription to count for.
    expect(await record(...(await batchOf(410, 400, 200)))).toBeNull();
  });

  it('are recorded with the same number of reads of their subscription, one or twenty', async () => {
    const readsFor = async (attempts: readonly MadeAttempt[]) => {
      let reads = 0;
      const store = peekingThrough(fresh.store, 'subscriptions', (peek) => (id) => {
        reads += 1;
        return peek(id);
      });
      const recorded = await recordResults({ ...deps, store }, attempts, []);
      expect(new Set(recorded.map((delivery) => delivery?.status))).toEqual(new Set(['delivered']));
      return reads;
    };
    await record(await make(200));
    const one = await readsFor(await batchOf(200));
    expect(await readsFor(await batchOf(...Array<number>(20).fill(200)))).toBe(one);
  });
});
