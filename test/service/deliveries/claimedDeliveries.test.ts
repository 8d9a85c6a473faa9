// Between claiming a delivery and locking it, another process may finish it or send it again.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadDueDeliveries } from '../../../service/src/deliveries/sending/loadDueDeliveries.ts';
import { systemClock } from '../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { DELIVERY_QUEUE, type Delivery } from '../../../service/src/deliveries/delivery.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { queueDelivery } from '../../../service/src/deliveries/operations/emit.ts';
import { newId } from '../../../service/src/platform/ids.ts';
import type { Job } from '../../../service/src/store/store.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { peekingThrough } from '../../helpers/peekingThrough.ts';
import { storedEvent } from '../../helpers/storedDelivery.ts';

describe('a claimed delivery whose subscription is gone', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let delivery: Delivery;
  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    delivery = await store.transaction((tx) =>
      queueDelivery(tx, storedEvent(), newId('sub'), new Date()),
    );
  });
  afterEach(() => fresh.remove());

  const claim = async (): Promise<Job> => {
    const jobs = await store.claim({
      queue: DELIVERY_QUEUE,
      limit: 1,
      freeSlots: () => 1,
      leaseMs: 60_000,
    });
    return jobs[0]!;
  };
  /** Loads a claimed job whose first, unlocked read of the delivery returns `stale`. */
  const load = async (job: Job, stale: Delivery) => {
    const deps = {
      store: peekingThrough(store, 'deliveries', () => async () => stale),
      clock: systemClock,
    } as unknown as Deps;
    return (await loadDueDeliveries(deps, [job]))[0];
  };
  const stored = () => store.transaction((tx) => tx.deliveries.peek(delivery.id));
  const waitingJobs = async () => (await store.stats()).queues[DELIVERY_QUEUE]!;

  it('is cancelled, and its job is gone', async () => {
    const loaded = await load(await claim(), delivery);
    expect(loaded).toMatchObject({ type: 'cancelled', delivery: { id: delivery.id } });
    expect(await stored()).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
    expect(await waitingJobs()).toMatchObject({ waiting: 0, claimed: 0 });
  });

  it('stays delivered when it was delivered after it was read', async () => {
    const job = await claim();
    const delivered: Delivery = { ...delivery, status: 'delivered', nextAttemptAt: null };
    await store.transaction((tx) => tx.deliveries.put(delivered));
    expect(await load(job, delivery)).toBeNull();
    expect(await stored()).toEqual(delivered);
    expect(await waitingJobs()).toMatchObject({ waiting: 0, claimed: 0 });
  });

  it('keeps its new job when it was sent again after it was read', async () => {
    const job = await claim();
    const failed: Delivery = { ...delivery, status: 'failed', nextAttemptAt: null };
    expect(await load(job, failed)).toBeNull();
    expect(await stored()).toEqual(delivery);
    expect(await waitingJobs()).toMatchObject({ claimed: 1 });
  });
});
