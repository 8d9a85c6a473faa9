import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { resendTurnedAway } from '../../../service/src/deliveries/followUps.ts';
import { recordResults } from '../../../service/src/deliveries/sending/recordResult.ts';
import { timestamp } from '../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../service/src/store/collections.ts';
import { DELIVERY_QUEUE, type DeliveryStatus } from '../../../service/src/deliveries/delivery.ts';
import type { Deps } from '../../../service/src/platform/deps.ts';
import { createSubscription } from '../../../service/src/deliveries/operations/createSubscription.ts';
import { deleteSubscription } from '../../../service/src/deliveries/operations/deleteSubscription.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import {
  recoverDeliveries,
  redeliver,
} from '../../../service/src/deliveries/operations/deliveries.ts';
import type {
  Subscription,
  WantedSubscription,
} from '../../../service/src/deliveries/subscription.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { stampRequest } from '../../../service/src/deliveries/request.ts';
import { openStoreOf } from '../../helpers/openStore.ts';
import { freshStorage, type Storage } from '../../helpers/storage.ts';
import { storedDelivery } from '../../helpers/storedDelivery.ts';
import { testDeps } from '../../helpers/testDeps.ts';

const LONG_AGO = new Date(0);
const HOUR_MS = 3_600_000;
const WANTED = {
  events: ['message.sent'],
  targetUrl: 'https://receiver.example/hook',
  source: 'test',
} satisfies WantedSubscription;

/** The operations over a real store, without the delivery loop: what is queued stays queued. */
describe('recover', () => {
  let storage: Storage;
  let store: ServiceStore;
  let deps: Deps;
  let workspace: Workspace;
  let subscription: Subscription;

  const open = async () => {
    store = await openStoreOf(storage.env);
    deps = testDeps({ store, agent: {} as never });
  };
  beforeEach(async () => {
    storage = await freshStorage();
    await open();
    workspace = await createWorkspace(deps, 'Test');
    ({ subscription } = await createSubscription(deps, workspace, WANTED));
  });
  afterEach(async () => {
    await store.close();
    await storage.remove();
  });

  const add = async (
    count: number,
    status: DeliveryStatus = 'failed',
    statusCode = 500,
    lastAttemptAt?: Date,
  ): Promise<string[]> => {
    const ids: string[] = [];
    await store.transaction(async (tx) => {
      for (let n = 0; n < count; n++) {
        const createdAt = timestamp(new Date());
        const at = lastAttemptAt === undefined ? createdAt : timestamp(lastAttemptAt);
        const attempt = {
          number: 1,
          at,
          statusCode,
          durationMs: 1,
          error: 'x',
          responseExcerpt: null,
          trigger: 'automatic',
        } as const;
        const delivery = storedDelivery({
          workspaceId: workspace.id,
          subscriptionId: subscription.id,
          status,
          attempts: [attempt],
          everDelivered: status === 'delivered',
          createdAt,
        });
        await tx.deliveries.put(delivery);
        ids.push(delivery.id);
      }
    });
    return ids;
  };
  const count = async (status: DeliveryStatus) => {
    const where = { subscriptionId: subscription.id, status };
    const all = await store.transaction((tx) => tx.deliveries.find({ where, limit: 100_000 }));
    return all.length;
  };
  /** The ids in the work queue; each job is handed out once. */
  const queued = async () => {
    const jobs = await store.claim({
      queue: DELIVERY_QUEUE,
      limit: 100_000,
      freeSlots: () => 100_000,
      leaseMs: 1,
    } as Parameters<ServiceStore['claim']>[0]);
    return jobs.map(({ id }) => id);
  };
  const recover = (since = LONG_AGO, within: Deps = deps) =>
    recoverDeliveries(within, workspace, subscription.id, since);
  const replaceSubscription = async () => {
    await deleteSubscription(deps, workspace, subscription.id);
    ({ subscription } = await createSubscription(deps, workspace, WANTED));
  };

  it('asked ten times at once queues each failed delivery once, and the answers add up', async () => {
    const failed = await add(1200);
    await add(20, 'delivered');
    await add(20, 'cancelled');
    const counts = await Promise.all(Array.from({ length: 10 }, () => recover()));
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(1200);
    expect((await queued()).sort()).toEqual([...failed].sort());
    expect([await count('delivered'), await count('cancelled'), await count('failed')]).toEqual([
      20, 20, 0,
    ]);
    expect(await recover()).toBe(0);
  });

  it('goes by when a delivery failed, not by how old its event is', async () => {
    const failedAt = new Date(Date.now() + HOUR_MS);
    await add(510);
    const wanted = [
      ...(await add(510, 'failed', 500, failedAt)),
      ...(await add(2, 'failed', 400, failedAt)),
    ];
    await add(3);
    // An attempt takes one millisecond here.
    expect(await recover(new Date(failedAt.getTime() + 2))).toBe(0);
    expect(await recover(new Date(failedAt.getTime() + 1))).toBe(512);
    expect((await queued()).sort()).toEqual(wanted.sort());
    expect(await count('failed')).toBe(513);
  });

  it('of thousands while new ones fail counts exactly what it queued, and leaves room for other writes', async () => {
    await add(3000);
    let isRunning = true;
    let added = 0;
    const failing = (async () => {
      while (isRunning) added += (await add(3)).length;
    })();
    const redelivered = await recover();
    isRunning = false;
    await failing;
    expect(added).toBeGreaterThan(3); // these writes had their turns in between
    expect(redelivered).toBe(await count('pending'));
    expect(redelivered + (await count('failed'))).toBe(3000 + added);
    expect(new Set(await queued()).size).toBe(redelivered);
  });

  it('that is cut off in the middle is completed by the next one, which counts the rest', async () => {
    await add(1200);
    const { promise: cutOff, resolve } = Promise.withResolvers<undefined>();
    let transactions = 0;
    const crashing: Deps = {
      ...deps,
      store: {
        transaction(fn) {
          if (++transactions <= 2) return store.transaction(fn);
          resolve(undefined);
          return new Promise<never>(() => {});
        },
      },
    };
    void recover(LONG_AGO, crashing);
    await cutOff;
    expect(await count('pending')).toBe(1000);
    await store.close();
    await open();
    expect(await recover()).toBe(200);
    expect(new Set(await queued()).size).toBe(1200);
  });

  it('is not needed for what was turned away just before a removal: a revival sends it, be it the oldest or the newest of a thousand', async () => {
    const [oldest] = await add(1, 'failed', 404);
    await add(1100, 'failed', 404, new Date(Date.now() - HOUR_MS));
    const [newest] = await add(1, 'failed', 404);
    await replaceSubscription();
    await resendTurnedAway(deps, subscription.id, new Date());
    expect((await queued()).sort()).toEqual([oldest, newest].sort());
  });

  it('and the sending again after a revival queue each delivery once between them', async () => {
    await add(1200, 'failed', 404);
    await replaceSubscription();
    const [redelivered] = await Promise.all([
      recover(),
      resendTurnedAway(deps, subscription.id, new Date()),
    ]);
    expect(await count('pending')).toBe(1200);
    expect(redelivered).toBeLessThanOrEqual(1200);
    expect(new Set(await queued()).size).toBe(1200);
  });

  it('never queues what is on its way or delivered, whatever happens at the same time', async () => {
    const command = fc.oneof(
      fc.constant({ type: 'recover' } as const),
      fc.record({ type: fc.constant('redeliver' as const), nth: fc.nat(9) }),
      fc.record({
        type: fc.constant('settle' as const),
        nth: fc.nat(9),
        statusCode: fc.constantFrom(200, 400, 404),
      }),
      fc.constant({ type: 'replace' } as const),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(command, { minLength: 1, maxLength: 5 }), { maxLength: 8 }),
        async (rounds) => {
          await store.transaction(async (tx) => {
            for (const { id } of await tx.deliveries.find({ where: {}, limit: 1000 })) {
              await tx.deliveries.delete(id);
              await tx.jobs.complete(id);
            }
          });
          const ids = [
            ...(await add(6)),
            ...(await add(2, 'delivered')),
            ...(await add(2, 'cancelled')),
          ];
          const storedOf = async (id: string) =>
            (await store.transaction((tx) => tx.deliveries.get(id)))!;
          const settle = async (nth: number, statusCode: number) => {
            const { id, status, nextAttemptAt } = await storedOf(ids[nth]!);
            if (status !== 'pending') return;
            const verdict = statusCode === 200 ? 'success' : 'failure';
            await recordResults(
              deps,
              [
                {
                  deliveryId: id,
                  subscriptionId: subscription.id,
                  revision: subscription.revision,
                  targetUrl: subscription.targetUrl,
                  nextAttemptAt,
                  result: {
                    request: stampRequest({ id, body: '{}' }, [], new Date(), null),
                    verdict,
                    statusCode,
                    durationMs: 1,
                    error: null,
                    errorKind: null,
                    responseExcerpt: null,
                  },
                  at: new Date(),
                },
              ],
              [],
            );
          };
          for (const round of rounds) {
            // What settles and what replaces comes first; the repairs of a round then run at once.
            for (const each of round) {
              if (each.type === 'settle') await settle(each.nth, each.statusCode);
              if (each.type === 'replace') await replaceSubscription();
            }
            const before = await Promise.all(ids.map(storedOf));
            const counts: number[] = [];
            const redelivered = new Set<string>();
            await Promise.all(
              round.map(async (each) => {
                if (each.type === 'recover') counts.push(await recover());
                if (each.type !== 'redeliver') return;
                const id = ids[each.nth]!;
                const again = redeliver(deps, workspace, subscription.id, id);
                if ((await again.catch(() => null)) === null) return; // pending: 409
                expect(redelivered.has(id)).toBe(false);
                redelivered.add(id);
              }),
            );
            const after = await Promise.all(ids.map(storedOf));
            const queuedNow = after.filter(
              (each, nth) => each.status === 'pending' && before[nth]!.status !== 'pending',
            );
            const byRecover = queuedNow.filter(({ id }) => !redelivered.has(id));
            expect(counts.reduce((sum, each) => sum + each, 0)).toBe(byRecover.length);
            for (const { id } of byRecover)
              expect(before.find((each) => each.id === id)!.status).toBe('failed');
            for (const [nth, each] of after.entries())
              if (before[nth]!.status === 'pending') expect(each).toEqual(before[nth]);
          }
          const all = await Promise.all(ids.map(storedOf));
          const pending = all.filter(({ status }) => status === 'pending').map(({ id }) => id);
          expect((await queued()).filter((id) => ids.includes(id)).sort()).toEqual(pending.sort());
        },
      ),
      { numRuns: 30 },
    );
  });
});
