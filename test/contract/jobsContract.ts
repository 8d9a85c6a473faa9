import { describe, expect, it } from '@jest/globals';
import type { TestClock } from '../helpers/testClock.ts';
import type { ContractStore } from './schema.ts';
import { CONTRACT_NOW as NOW } from './schema.ts';
import type { ClaimRequest, Job } from '../../service/src/store/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const job = (id: string, parts: Partial<Job> = {}): Job => ({
  id,
  queue: 'deliveries',
  group: 'g',
  runAt: NOW,
  rank: 0,
  data: {},
  ...parts,
});

/** What the work queue promises. */
export const describeJobs = (
  current: () => ContractStore,
  clock: () => Pick<TestClock, 'now' | 'advance' | 'jump'>,
  reopen: () => Promise<ContractStore>,
): void => {
  describe('work queue', () => {
    const enqueue = (...jobs: Job[]) =>
      current().transaction(async (tx) => {
        for (const one of jobs) await tx.jobs.enqueue(one);
      });
    /** Claims at once, or moves the clock to `now` and then claims. */
    const claimJobs = ({ now, ...request }: Partial<ClaimRequest> & { now?: number } = {}) => {
      if (now !== undefined) clock().advance(now - clock().now().getTime());
      return current().claim({
        queue: 'deliveries',
        limit: 100,
        freeSlots: () => 100,
        leaseMs: 1_000,
        ...request,
      });
    };
    const claim = async (request: Parameters<typeof claimJobs>[0] = {}) =>
      (await claimJobs(request)).map(({ id }) => id);
    const complete = (id: string) => current().transaction((tx) => tx.jobs.complete(id));
    const release = (id: string, runAt: number, rank = 1) =>
      current().transaction((tx) => tx.jobs.release(id, { runAt, rank }));

    it('hands out a job as it was enqueued', async () => {
      const one = job('a', { data: { delivery: 'dlv_1', attempt: 2, manual: false, note: null } });
      await enqueue(one);
      expect(await claimJobs()).toEqual([one]);
    });

    it('hands out a job once', async () => {
      await enqueue(job('a'));
      const claims = await Promise.all([claim(), claim(), claim()]);
      expect(claims.flat()).toEqual(['a']);
    });

    it('does not hand out a job before its time', async () => {
      await enqueue(job('later', { runAt: NOW + 10 }));
      expect(await claim()).toEqual([]);
      expect(await claim({ now: NOW + 9 })).toEqual([]);
      expect(await claim({ now: NOW + 10 })).toEqual(['later']);
    });

    it('keeps queues apart', async () => {
      await enqueue(job('a'), job('b', { queue: 'tools' }));
      expect(await claim({ queue: 'tools' })).toEqual(['b']);
      expect(await claim({ queue: 'nothing' })).toEqual([]);
    });

    it('hands out lower ranks first among due jobs, then older times', async () => {
      await enqueue(
        job('retry', { rank: 1, runAt: NOW - 50 }),
        job('new', { runAt: NOW - 1 }),
        job('newer', { runAt: NOW }),
        job('future', { runAt: NOW + 1 }),
      );
      expect(await claim()).toEqual(['new', 'newer', 'retry']);
    });

    it('leaves every eighth turn of a group to a due job of higher rank, however many of lower rank are due', async () => {
      const retries = Array.from({ length: 3 }, (_, i) =>
        job(`retry${i}`, { rank: 1, runAt: NOW - 100 + i }),
      );
      await enqueue(
        ...retries,
        ...Array.from({ length: 40 }, (_, i) => job(`fresh${String(i).padStart(2, '0')}`)),
      );
      const claimed: string[] = [];
      for (let i = 0; i < 24; i += 1) claimed.push(...(await claim({ limit: 1 })));
      const turnsOf = (name: string) =>
        claimed.flatMap((id, i) => (id.startsWith(name) ? [i + 1] : []));
      expect(turnsOf('retry')).toEqual([8, 16, 24]);
      expect(claimed.filter((id) => id.startsWith('fresh'))).toEqual(
        Array.from({ length: 21 }, (_, i) => `fresh${String(i).padStart(2, '0')}`),
      );
    });

    it('hands out due retries while many fresh ones wait for their time, and the other way round', async () => {
      const waiting = Array.from({ length: 500 }, (_, i) =>
        job(`w${i}`, { rank: i % 2, runAt: NOW + 1_000 }),
      );
      await enqueue(...waiting, job('retry', { rank: 1 }), job('fresh'));
      expect(await claim()).toEqual(['fresh', 'retry']);
    });

    it('takes groups in turn', async () => {
      const jobsOf = (group: string) =>
        [1, 2, 3].map((i) => job(`${group}${i}`, { group, runAt: NOW - 10 + i }));
      await enqueue(...jobsOf('a'), ...jobsOf('b'), ...jobsOf('c'));
      const first = await claim({ limit: 3 });
      expect(first.map((id) => id[0]).sort()).toEqual(['a', 'b', 'c']);
      const rest = await claim({ limit: 100 });
      expect(rest).toHaveLength(6);
      for (const group of ['a', 'b', 'c']) {
        expect([...first, ...rest].filter((id) => id.startsWith(group))).toEqual([
          `${group}1`,
          `${group}2`,
          `${group}3`,
        ]);
      }
    });

    it('takes no more of a group than it has free slots, and fills the limit from others', async () => {
      await enqueue(...['a1', 'a2', 'a3', 'b1', 'b2'].map((id) => job(id, { group: id[0] })));
      const claimed = await claim({ limit: 4, freeSlots: (group) => (group === 'a' ? 1 : 5) });
      expect([...claimed].sort()).toEqual(['a1', 'b1', 'b2']);
      expect(await claim({ freeSlots: () => 0 })).toEqual([]);
      expect(await claim()).toEqual(['a2', 'a3']);
    });

    describe('groups of one share', () => {
      const jobsOf = (share: string, groups: number) =>
        Array.from({ length: groups }, (_, n) => job(`${share}${n}`, { group: `${share} ${n}` }));
      /** How many places are free, and how many each share holds. */
      const placesOf = (free: number, held: Record<string, number> = {}) => ({
        free,
        heldBy: (share: string) => held[share] ?? 0,
      });
      const countOf = (share: string, ids: readonly string[]) =>
        ids.filter((id) => id.startsWith(share)).length;

      it('are served in turn with another share, however many they are', async () => {
        await enqueue(...jobsOf('a', 50), ...jobsOf('b', 1), ...jobsOf('c', 2));
        expect((await claim({ limit: 3 })).map((id) => id[0]).sort()).toEqual(['a', 'b', 'c']);
        expect((await claim({ limit: 2 })).map((id) => id[0]).sort()).toEqual(['a', 'c']);
        expect(countOf('a', await claim())).toBe(48);
      });

      it('are served in turn with a share that comes later, from one claim to the next', async () => {
        await enqueue(...jobsOf('a', 50));
        await claim({ limit: 3 });
        await enqueue(...jobsOf('b', 2));
        const claimed: string[] = [];
        for (let n = 0; n < 4; n += 1) claimed.push(...(await claim({ limit: 1 })));
        expect(claimed.map((id) => id[0]).sort()).toEqual(['a', 'a', 'b', 'b']);
      });

      it('get no more places together than are left free, and leave them to others', async () => {
        await enqueue(...jobsOf('a', 20), ...jobsOf('b', 1));
        const claimed = await claim({ places: placesOf(8) });
        expect([countOf('a', claimed), countOf('b', claimed)]).toEqual([4, 1]);
        expect(await claim({ places: placesOf(3, { a: 4, b: 1 }) })).toEqual([]);
        expect(await claim({ places: placesOf(6, { a: 4 }) })).toHaveLength(1);
        expect(countOf('a', await claim())).toBe(15);
      });

      it('have half of the places when no other share wants any, several of one group too', async () => {
        await enqueue(
          ...jobsOf('a', 9),
          ...Array.from({ length: 9 }, (_, n) => job(`a${n}th`, { group: 'a more' })),
        );
        expect(await claim({ places: placesOf(10) })).toHaveLength(5);
      });

      it('come after the groups of a share that holds less', async () => {
        await enqueue(...jobsOf('a', 5), ...jobsOf('b', 5), ...jobsOf('c', 5));
        const claimed = await claim({ limit: 4, places: placesOf(100, { a: 3, b: 1, c: 9 }) });
        expect([countOf('a', claimed), countOf('b', claimed)]).toEqual([1, 3]);
      });

      it('are neither asked for free slots nor waited for while their share may take no more', async () => {
        await enqueue(
          ...jobsOf('a', 40),
          job('later', { group: 'a later', runAt: NOW + 5 }),
          job('b', { group: 'b x', runAt: NOW + 20 }),
        );
        await claim({ limit: 10, leaseMs: 15 });
        const asked: string[] = [];
        const full = placesOf(10, { a: 10 });
        expect(await claim({ places: full, freeSlots: (group) => asked.push(group) })).toEqual([]);
        expect(asked.filter((group) => group.startsWith('a'))).toEqual([]);
        expect(await current().msUntilDue('deliveries', () => false, full)).toBe(20);
        expect(await current().msUntilDue('deliveries', () => false, placesOf(10, { a: 9 }))).toBe(
          0,
        );
        expect(
          await current().msUntilDue('deliveries', () => false, placesOf(10, { a: 10, b: 10 })),
        ).toBeNull();
        clock().advance(20);
        expect(await claim({ places: full })).toEqual(['b']);
        expect(await claim()).toHaveLength(41);
      });
    });

    it('hands out a job again when its lease has run out', async () => {
      await enqueue(job('a'));
      await claim({ leaseMs: 500 });
      expect(await claim({ now: NOW + 499 })).toEqual([]);
      expect(await claim({ now: NOW + 500 })).toEqual(['a']);
    });

    it('forgets a completed job, claimed or not', async () => {
      await enqueue(job('a'), job('b', { runAt: NOW + 5 }));
      await claim();
      await complete('a');
      await complete('b');
      await complete('never');
      expect(await claim({ now: NOW + 1_000_000 })).toEqual([]);
      expect(await current().msUntilDue('deliveries')).toBeNull();
    });

    it('gives a released job back under its new time and rank', async () => {
      await enqueue(job('a', { data: { x: 1 } }));
      await claim();
      await release('a', NOW + 100, 1);
      expect(await claim({ now: NOW + 99 })).toEqual([]);
      expect(await claimJobs({ now: NOW + 100 })).toEqual([
        job('a', { data: { x: 1 }, runAt: NOW + 100, rank: 1 }),
      ]);
    });

    it('does nothing when a job to be released is gone', async () => {
      await release('gone', NOW);
      expect(await claim()).toEqual([]);
    });

    it('leaves a lease alone when the transaction that ends it rolls back', async () => {
      await enqueue(job('a'), job('b'));
      await claim({ leaseMs: 500 });
      const failing = current().transaction(async (tx) => {
        await tx.jobs.complete('a');
        await tx.jobs.release('b', { runAt: NOW, rank: 0 });
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await claim({ now: NOW + 499 })).toEqual([]);
      expect([...(await claim({ now: NOW + 500 }))].sort()).toEqual(['a', 'b']);
    });

    it('never hands out a job of a transaction that rolled back', async () => {
      const failing = current().transaction(async (tx) => {
        await tx.jobs.enqueue(job('a'));
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await claim()).toEqual([]);
      expect(await current().msUntilDue('deliveries')).toBeNull();
    });

    it('takes a job back in the transaction that enqueued it', async () => {
      await current().transaction(async (tx) => {
        await tx.jobs.enqueue(job('a'));
        await tx.jobs.complete('a');
      });
      expect(await claim()).toEqual([]);
    });

    it('still has its jobs after the store is reopened, claimed ones too', async () => {
      await enqueue(job('claimed'), job('later', { runAt: NOW + 10 }), job('done'));
      expect(await claim({ now: NOW })).toContain('claimed');
      await complete('done');
      await reopen();
      expect([...(await claim({ now: NOW + 2_000 }))].sort()).toEqual(['claimed', 'later']);
    });

    it('says when the next job is due', async () => {
      expect(await current().msUntilDue('deliveries')).toBeNull();
      await enqueue(
        job('a', { group: 'a', runAt: NOW + 10 }),
        job('b', { group: 'b', runAt: NOW + 20, rank: 1 }),
      );
      expect(await current().msUntilDue('deliveries')).toBe(10);
      expect(await current().msUntilDue('deliveries', (group) => group === 'a')).toBe(20);
      expect(await current().msUntilDue('deliveries', () => true)).toBeNull();
      await release('a', NOW + 30);
      expect(await current().msUntilDue('deliveries')).toBe(20);
      clock().advance(15);
      expect(await current().msUntilDue('deliveries')).toBe(5);
      clock().advance(15);
      expect(await current().msUntilDue('deliveries')).toBe(0);
    });

    it('counts the end of a lease as the time when its job is due', async () => {
      await enqueue(job('a'));
      await claim({ leaseMs: 700 });
      expect(await current().msUntilDue('deliveries')).toBe(700);
      expect(await current().msUntilDue('deliveries', (group) => group === 'g')).toBeNull();
    });

    it('still says that a job is due when a claim found no free slot for its group', async () => {
      await enqueue(job('a'));
      await claim({ freeSlots: () => 0 });
      expect(await current().msUntilDue('deliveries')).toBe(0);
    });

    describe('when the clock on the wall is set', () => {
      it.each([
        ['forward', DAY],
        ['back', -DAY],
      ])(
        'by a day, %s, hands out what waits when its wait is over, neither sooner nor later',
        async (_way, by) => {
          await enqueue(job('due'), job('retry', { rank: 1, runAt: NOW + 5_000 }));
          clock().jump(by);
          expect(await claim({ leaseMs: 10_000 })).toEqual(['due']);
          expect(await current().msUntilDue('deliveries')).toBe(5_000);
          clock().advance(4_999);
          expect(await claim()).toEqual([]);
          clock().advance(1);
          expect(await claim()).toEqual(['retry']);
        },
      );

      it.each([
        ['forward', DAY],
        ['back', -DAY],
      ])('by a day, %s, ends no lease sooner or later', async (_way, by) => {
        await enqueue(job('a'));
        await claim({ leaseMs: 500 });
        clock().jump(by);
        expect(await current().msUntilDue('deliveries')).toBe(500);
        clock().advance(499);
        expect(await claim()).toEqual([]);
        clock().advance(1);
        expect(await claim()).toEqual(['a']);
      });

      it.each([
        ['forward', DAY],
        ['back', -DAY],
      ])('by a day, %s, counts what is enqueued afterwards by the new time', async (_way, by) => {
        clock().jump(by);
        await enqueue(job('a', { runAt: NOW + by }), job('b', { runAt: NOW + by + 10 }));
        expect(await claim()).toEqual(['a']);
        clock().advance(10);
        expect(await claim()).toEqual(['b']);
      });

      it('back by a day while the store was closed, lets nothing wait longer than it had to when it was enqueued', async () => {
        await enqueue(job('fresh'), job('retry', { rank: 1, runAt: NOW + 5_000 }));
        await release('fresh', NOW - 1, 0);
        clock().jump(-DAY);
        await reopen();
        expect(await claim()).toEqual(['fresh']);
        expect(await current().msUntilDue('deliveries', () => false)).toBeLessThanOrEqual(5_000);
        clock().advance(5_000);
        expect(await claim()).toContain('retry');
      });
    });

    it('counts what waits and what is claimed, by queue', async () => {
      expect((await current().stats()).queues).toEqual({});
      await enqueue(
        job('a'),
        job('b'),
        job('later', { group: 'h', runAt: NOW + DAY }),
        job('tool', { queue: 'tools', runAt: NOW + DAY }),
      );
      const counts = async (queue: string) => (await current().stats()).queues[queue];
      expect(await counts('deliveries')).toEqual({
        waiting: 3,
        due: 2,
        claimed: 0,
        oldestDueMs: 0,
      });
      clock().advance(250);
      expect(await counts('deliveries')).toEqual({
        waiting: 3,
        due: 2,
        claimed: 0,
        oldestDueMs: 250,
      });
      expect(await counts('tools')).toEqual({ waiting: 1, due: 0, claimed: 0, oldestDueMs: null });
      await claim();
      expect(await counts('deliveries')).toEqual({
        waiting: 1,
        due: 0,
        claimed: 2,
        oldestDueMs: null,
      });
      await release('a', NOW);
      await complete('b');
      await complete('later');
      expect(await counts('deliveries')).toMatchObject({ waiting: 1, claimed: 0 });
      await complete('a');
      expect(await counts('deliveries')).toEqual({
        waiting: 0,
        due: 0,
        claimed: 0,
        oldestDueMs: null,
      });
    });

    it('counts a job as due from the end of its lease', async () => {
      await enqueue(job('a'));
      await claim({ leaseMs: 500 });
      const counts = async () => (await current().stats()).queues.deliveries;
      clock().advance(499);
      expect(await counts()).toEqual({ waiting: 0, due: 0, claimed: 1, oldestDueMs: null });
      clock().advance(2);
      expect(await counts()).toEqual({ waiting: 1, due: 1, claimed: 0, oldestDueMs: 1 });
      expect(await claim()).toEqual(['a']);
    });

    it('calls back when work was added or released, and only then', async () => {
      let calls = 0;
      const stop = current().onWork(() => (calls += 1));
      await enqueue(job('a'));
      expect(calls).toBe(1);
      await claim();
      await release('a', NOW + 1);
      expect(calls).toBe(2);
      await current().transaction((tx) => tx.others.put({ id: 'o' }));
      await complete('a');
      expect(calls).toBe(2);
      stop();
      await enqueue(job('b'));
      expect(calls).toBe(2);
    });

    it('calls back for the queue that was named, not for others', async () => {
      let calls = 0;
      current().onWork(() => (calls += 1), job('a').queue);
      await enqueue({ ...job('b'), queue: 'elsewhere' });
      expect(calls).toBe(0);
      await current().transaction(async (tx) => {
        await tx.jobs.enqueue({ ...job('c'), queue: 'elsewhere' });
        await tx.jobs.enqueue(job('a'));
      });
      expect(calls).toBe(1);
    });
  });
};
