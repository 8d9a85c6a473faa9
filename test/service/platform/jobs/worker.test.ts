// The worker that all background work shares, over a real store: what it claims, and how it stops.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { FOLLOW_UP_QUEUE as QUEUE } from '../../../../service/src/deliveries/subscription.ts';
import { systemClock } from '../../../../service/src/platform/clock.ts';
import { unwatchedBounds } from '../../../../service/src/platform/limits/bounds.ts';
import { StoreUnavailable } from '../../../../service/src/store/store.ts';
import {
  startWorker,
  type JobContext,
  type Worker,
} from '../../../../service/src/platform/jobs/worker.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

/** After a stop, all retries end within this time of the first failure. */
const LAST_RETRIES_MS = 3000;

let fresh: FreshStore;
let worker: Worker | undefined;
let logged: string[];
beforeEach(async () => {
  fresh = await openFreshStore();
  logged = [];
});
afterEach(async () => {
  await worker?.stop();
  await fresh.remove();
});

/** @param id also names the job's group, in the workspace `ws` */
const enqueue = (id: string) =>
  fresh.store.transaction((tx) =>
    tx.jobs.enqueue({ id, queue: QUEUE, group: `ws ${id}`, runAt: 0, rank: 0, data: {} }),
  );
const complete = (id: string) => fresh.store.transaction((tx) => tx.jobs.complete(id));

const start = (
  run: (id: string, context: JobContext) => Promise<void>,
  { leaseMs = 60_000, drainMs = 10_000, maxPerWorkspace = 10 } = {},
) => {
  worker = startWorker({
    deps: { store: fresh.store, clock: systemClock, bounds: unwatchedBounds },
    log: pino({ level: 'error' }, { write: (line) => void logged.push(line) }),
    queue: QUEUE,
    maxPerWorkspace,
    leaseMs,
    drainMs,
    run: ({ id }, context) => run(id, context),
    onFailure: { message: 'the job failed', idField: 'job' },
  });
  return worker;
};

describe('a worker', () => {
  it('runs what is due at its start and what is added later', async () => {
    const ran: string[] = [];
    await enqueue('a');
    start(async (id) => {
      ran.push(id);
      await complete(id);
    });
    await waitFor('job a', () => ran.includes('a'));
    await enqueue('b');
    await waitFor('job b', () => ran.includes('b'));
    expect(ran).toEqual(['a', 'b']);
  });

  it('runs no more jobs of one workspace at once than it may', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await enqueue(id);
    let underWay = 0;
    let most = 0;
    let ended = 0;
    start(
      async (id) => {
        most = Math.max(most, (underWay += 1));
        await sleep(20);
        underWay -= 1;
        await complete(id);
        ended += 1;
      },
      { maxPerWorkspace: 2 },
    );
    await waitFor('all four jobs', () => ended === 4);
    expect(most).toBe(2);
  });

  it('logs a job that fails, and claims it again when its lease has ended', async () => {
    let runs = 0;
    await enqueue('a');
    start(
      async (id) => {
        if ((runs += 1) === 1) throw new Error('no luck');
        await complete(id);
      },
      { leaseMs: 100 },
    );
    await waitFor('the second run', () => runs === 2);
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({ job: 'a', msg: 'the job failed' });
  });
});

describe('a stop of a worker', () => {
  it('waits for the jobs under way and starts no more', async () => {
    const ran: string[] = [];
    const finish = Promise.withResolvers<undefined>();
    await enqueue('a');
    const started = start(async (id) => {
      ran.push(id);
      await finish.promise;
      await complete(id);
      ran.push(`${id} has ended`);
    });
    await waitFor('the job', () => ran.length === 1);
    const stopped = started.stop();
    await enqueue('b');
    finish.resolve(undefined);
    await stopped;
    expect(ran).toEqual(['a', 'a has ended']);
  });

  it('aborts a job that still runs when its time is over, and logs nothing about it', async () => {
    let hasBegun = false;
    await enqueue('a');
    const started = start(
      async (_id, { signal }) => {
        hasBegun = true;
        await sleep(60_000, undefined, { signal });
      },
      { drainMs: 50 },
    );
    await waitFor('the job', () => hasBegun);
    await started.stop();
    expect(logged).toEqual([]);
  });

  it('repeats reads and writes during an outage for three seconds in all, not for each job', async () => {
    const failing = new Map<string, number>();
    const unavailable = async (id: string): Promise<void> => {
      failing.set(id, (failing.get(id) ?? 0) + 1);
      throw new StoreUnavailable('the disk is full');
    };
    const lateFailure = Promise.withResolvers<undefined>();
    await enqueue('early');
    await enqueue('late');
    let begun = 0;
    const started = start(async (id, { retry }) => {
      begun += 1;
      if (id === 'late') await lateFailure.promise;
      await retry(() => unavailable(id));
    });
    await waitFor('both jobs', () => begun === 2 && failing.has('early'));
    const stoppedAt = performance.now();
    const stopped = started.stop();
    await sleep(LAST_RETRIES_MS - 500);
    lateFailure.resolve(undefined);
    await stopped;
    expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(LAST_RETRIES_MS);
    expect(failing.get('early')).toBeGreaterThan(3);
    // With three seconds of its own it would have failed seven times.
    expect(failing.get('late')).toBeLessThan(5);
    expect(logged.map((line) => (JSON.parse(line) as { job: string }).job).sort()).toEqual([
      'early',
      'late',
    ]);
  });
});
