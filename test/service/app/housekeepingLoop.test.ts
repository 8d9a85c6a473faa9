// The clean-up as work in the store: one job for all processes, which goes on when one of them ends.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { systemClock } from '../../../service/src/platform/clock.ts';
import { startHousekeeping } from '../../../service/src/app/retention/housekeeping.ts';
import { HOUSEKEEPING_QUEUE } from '../../../service/src/app/workQueues.ts';
import type { WorkDeps, Worker } from '../../../service/src/platform/jobs/worker.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const RETENTION = { days: 30, conversationDays: 0 };

describe('clean-up by several processes', () => {
  let fresh: FreshStore;
  const started: Worker[] = [];
  beforeEach(async () => {
    fresh = await openFreshStore();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.stop()));
    await fresh.remove();
  });

  /** One process's clean-up. @returns how many sweeps it has begun, and the way to stop it */
  const start = async (everyMs: number) => {
    let sweeps = 0;
    const ageClock = {
      now() {
        sweeps += 1;
        return systemClock.now();
      },
    };
    const housekeeping = await startHousekeeping({
      deps: { store: fresh.store, clock: systemClock } as WorkDeps,
      ageClock,
      retention: RETENTION,
      log: pino({ level: 'silent' }),
      everyMs,
    });
    started.push(housekeeping);
    return { housekeeping, sweeps: () => sweeps };
  };
  const jobs = async () => {
    const { waiting = 0, claimed = 0 } =
      (await fresh.store.stats()).queues[HOUSEKEEPING_QUEUE] ?? {};
    return waiting + claimed;
  };
  const putExpired = (id: string) =>
    fresh.store.transaction((tx) =>
      tx.idempotentAnswers.put({
        id,
        kind: 'idempotent_answer',
        requestHash: id,
        status: 200,
        sealedBody: '',
        expiresAt: '2020-01-01T00:00:00.000+00:00',
      }),
    );
  const isThere = async (id: string) =>
    (await fresh.store.transaction((tx) => tx.idempotentAnswers.peek(id))) !== null;

  it('is one job, however many start', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => start(20)));
    await waitFor('some sweeps', () => all.reduce((sum, { sweeps }) => sum + sweeps(), 0) >= 10);
    expect(await jobs()).toBe(1);
  });

  it('sweeps at a start, although the next sweep is far away', async () => {
    const first = await start(3_600_000);
    await waitFor(
      'the first sweep to end',
      async () =>
        first.sweeps() === 1 &&
        (await fresh.store.stats()).queues[HOUSEKEEPING_QUEUE]?.waiting === 1,
    );
    await first.housekeeping.stop();
    await putExpired('old');
    await start(3_600_000);
    await waitFor('what has expired to go', async () => !(await isThere('old')));
  });

  it('goes on in the processes that are left', async () => {
    const [first, second] = [await start(20), await start(20)];
    await waitFor('a sweep', () => first.sweeps() + second.sweeps() > 2);
    await first.housekeeping.stop();
    const before = second.sweeps();
    await putExpired('later');
    await waitFor('what has expired to go', async () => !(await isThere('later')));
    expect(second.sweeps()).toBeGreaterThan(before);
  });
});
