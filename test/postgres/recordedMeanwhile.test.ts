// Two processes record results of one subscription at the same time.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createSubscription } from '../../service/src/deliveries/operations/createSubscription.ts';
import { recordResults } from '../../service/src/deliveries/sending/recordResult.ts';
import { createWorkspace } from '../../service/src/team/operations/team.ts';
import { openFreshStore, type FreshStore } from '../helpers/openStore.ts';
import { peekingThrough } from '../helpers/peekingThrough.ts';
import { testDeps } from '../helpers/testDeps.ts';
import { madeAttempt } from '../service/deliveries/madeAttempt.ts';

let fresh: FreshStore;
beforeEach(async () => {
  fresh = await openFreshStore();
});
afterEach(() => fresh.remove());

it('a success ends an outage that another process records while the success is being recorded', async () => {
  const { store } = fresh;
  const deps = testDeps({ store, agent: {} as never });
  const workspace = await createWorkspace(deps, 'Test');
  const { subscription } = await createSubscription(deps, workspace, {
    events: ['message.sent'],
    targetUrl: 'https://receiver.example/hook',
    source: 'test',
  });
  const read = () => store.transaction((tx) => tx.subscriptions.peek(subscription.id));
  await recordResults(deps, [await madeAttempt(store, subscription, 200)], []);

  const failure = await madeAttempt(store, subscription, 503);
  let isRecorded = false;
  /** The first read of the subscription is the last one before the failure. */
  const interrupted = peekingThrough(store, 'subscriptions', (peek) => async (id) => {
    const found = await peek(id);
    if (isRecorded) return found;
    isRecorded = true;
    await recordResults(deps, [failure], []);
    expect(await read()).toMatchObject({ isAfterOutage: true, consecutiveFailures: 1 });
    return found;
  });
  const success = await madeAttempt(store, subscription, 200);
  await recordResults({ ...deps, store: interrupted }, [success], []);
  expect(isRecorded).toBe(true);
  expect(await read()).toMatchObject({ isAfterOutage: false, consecutiveFailures: 0 });
});
