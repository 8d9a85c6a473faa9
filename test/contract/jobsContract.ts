import { describe, expect, it } from '@jest/globals';
import type { ContractClock, ContractStore } from './schema.ts';
import { rollBack } from './rollBack.ts';
import { CONTRACT_NOW as NOW, enqueue, job } from './schema.ts';
import type { ClaimRequest, Job } from '../../service/src/store/store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What the work queue promises. */
export const describeJobs = (
  current: () => ContractStore,
  clock: () => ContractClock,
  reopen: () => Promise<ContractStore>,
): void => {
  describe('work queue', () => {
    const add = (...jobs: Job[]) => enqueue(current(), ...jobs);
    const msUntilDue: ContractStore['msUntilDue'] = (...args) => current().msUntilDue(...args);
    /** Claims at once, or moves the clock to `now` and then claims. */
    const claimJobs = ({ now, ...request }: Partial<ClaimRequest> & { now?: number } = {}) => {
      if (now !== undefined) clock().advance(now - clock().now().getTime());
      return current().claim({
        queue: 'q',
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
      await add(one);
      expect(await claimJobs()).toEqual([one]);
    });

    it('hands out a job once', async () => {
      await add(job('a'));
      const claims = await Promise.all([claim(), claim(), claim()]);
      expect(claims.flat()).toEqual(['a']);
    });

    it('does not hand out a job before its time', async () => {
      await add(job('later', { runAt: NOW + 10 }));
      expect(await claim()).toEqual([]);
      expect(await claim({ now: NOW + 9 })).toEqual([]);
      expect(await claim({ now: NOW + 10 })).toEqual(['later']);
    });

    it('keeps queues apart', async () => {
      await add(job('a'), job('b', { queue: 'tools' }));
      expect(await claim({ queue: 'tools' })).toEqual(['b']);
      expect(await claim({ queue: 'nothing' })).toEqual([]);
    });

    it('hands out lower ranks first among due jobs, then older times', async () => {
      await add(
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
      await add(
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
      await add(...waiting, job('retry', { rank: 1 }), job('fresh'));
      expect(await claim()).toEqual(['fresh', 'retry']);
    });

    it('takes groups in turn', async () => {
      const jobsOf = (group: string) =>
        [1, 2, 3].map((i) => job(`${group}${i}`, { group, runAt: NOW - 10 + i }));
      await add(...jobsOf('a'), ...jobsOf('b'), ...jobsOf('c'));
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
      await add(...['a1', 'a2', 'a3', 'b1', 'b2'].map((id) => job(id, { group: id[0] })));
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
        await add(...jobsOf('a', 50), ...jobsOf('b', 1), ...jobsOf('c', 2));
        expect((await claim({ limit: 3 })).map((id) => id[0]).sort()).toEqual(['a', 'b', 'c']);
        expect((await claim({ limit: 2 })).map((id) => id[0]).sort()).toEqual(['a', 'c']);
        expect(countOf('a', await claim())).toBe(48);
      });

      it('are served in turn with a share that comes later, from one claim to the next', async () => {
        await add(...jobsOf('a', 50));
        await claim({ limit: 3 });
        await add(...jobsOf('b', 2));
        const claimed: string[] = [];
        for (let n = 0; n < 4; n += 1) claimed.push(...(await claim({ limit: 1 })));
        expect(claimed.map((id) => id[0]).sort()).toEqual(['a', 'a', 'b', 'b']);
      });

      it('get no more places together than are left free, and leave them to others', async () => {
        await add(...jobsOf('a', 20), ...jobsOf('b', 1));
        const claimed = await claim({ places: placesOf(8) });
        expect([countOf('a', claimed), countOf('b', claimed)]).toEqual([4, 1]);
        expect(await claim({ places: placesOf(3, { a: 4, b: 1 }) })).toEqual([]);
        expect(await claim({ places: placesOf(6, { a: 4 }) })).toHaveLength(1);
        expect(countOf('a', await claim())).toBe(15);
      });

      it('have half of the places when no other share wants any, several of one group too', async () => {
        await add(
          ...jobsOf('a', 9),
          ...Array.from({ length: 9 }, (_, n) => job(`a${n}th`, { group: 'a more' })),
        );
        expect(await claim({ places: placesOf(10) })).toHaveLength(5);
      });

      it('come after the groups of a share that holds less', async () => {
        await add(...jobsOf('a', 5), ...jobsOf('b', 5), ...jobsOf('c', 5));
        const claimed = await claim({ limit: 4, places: placesOf(100, { a: 3, b: 1, c: 9 }) });
        expect([countOf('a', claimed), countOf('b', claimed)]).toEqual([1, 3]);
      });

      it('are neither asked for free slots nor waited for while their share may take no more', async () => {
        await add(
          ...jobsOf('a', 40),
          job('later', { group: 'a later', runAt: NOW + 5 }),
          job('b', { group: 'b x', runAt: NOW + 20 }),
        );
        await claim({ limit: 10, leaseMs: 15 });
        const asked: string[] = [];
        const full = placesOf(10, { a: 10 });
        expect(await claim({ places: full, freeSlots: (group) => asked.push(group) })).toEqual([]);
        expect(asked.filter((group) => group.startsWith('a'))).toEqual([]);
        expect(await msUntilDue('q', () => false, full)).toBe(20);
        expect(await msUntilDue('q', () => false, placesOf(10, { a: 9 }))).toBe(0);
        expect(await msUntilDue('q', () => false, placesOf(10, { a: 10, b: 10 }))).toBeNull();
        clock().advance(20);
        expect(await claim({ places: full })).toEqual(['b']);
        expect(await claim()).toHaveLength(41);
      });
    });

    it('hands out a job again when its lease has run out', async () => {
      await add(job('a'));
      await claim({ leaseMs: 500 });
      expect(await claim({ now: NOW + 499 })).toEqual([]);
      expect(await claim({ now: NOW + 500 })).toEqual(['a']);
    });

    it('forgets a completed job, claimed or not', async () => {
      await add(job('a'), job('b', { runAt: NOW + 5 }));
      await claim();
      await complete('a');
      await complete('b');
      await complete('never');
      expect(await claim({ now: NOW + 1_000_000 })).toEqual([]);
      expect(await msUntilDue('q')).toBeNull();
    });

    it('gives a released job back under its new time and rank', async () => {
      await add(job('a', { data: { x: 1 } }));
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
      await add(job('a'), job('b'));
      await claim({ leaseMs: 500 });
      await rollBack(current(), async (tx) => {
        await tx.jobs.complete('a');
        await tx.jobs.release('b', { runAt: NOW, rank: 0 });
      });
      expect(await claim({ now: NOW + 499 })).toEqual([]);
      expect([...(await claim({ now: NOW + 500 }))].sort()).toEqual(['a', 'b']);
    });

    it('never hands out a job of a transaction that rolled back', async () => {
      await rollBack(current(), (tx) => tx.jobs.enqueue(job('a')));
      expect(await claim()).toEqual([]);
      expect(await msUntilDue('q')).toBeNull();
    });

    it('takes a job back in the transaction that enqueued it', async () => {
      await current().transaction(async (tx) => {
        await tx.jobs.enqueue(job('a'));
        await tx.jobs.complete('a');
      });
      expect(await claim()).toEqual([]);
    });

    it('still has its jobs after the store is reopened, claimed ones too', async () => {
      await add(job('claimed'), job('later', { runAt: NOW + 10 }), job('done'));
      expect(await claim({ now: NOW })).toContain('claimed');
      await complete('done');
      await reopen();
      expect([...(await claim({ now: NOW + 2_000 }))].sort()).toEqual(['claimed', 'later']);
    });

    it('says when the next job is due', async () => {
      expect(await msUntilDue('q')).toBeNull();
      await add(
        job('a', { group: 'a', runAt: NOW + 10 }),
        job('b', { group: 'b', runAt: NOW + 20, rank: 1 }),
      );
      expect(await msUntilDue('q')).toBe(10);
      expect(await msUntilDue('q', (group) => group === 'a')).toBe(20);
      expect(await msUntilDue('q', () => true)).toBeNull();
      await release('a', NOW + 30);
      expect(await msUntilDue('q')).toBe(20);
      clock().advance(15);
      expect(await msUntilDue('q')).toBe(5);
      clock().advance(15);
      expect(await msUntilDue('q')).toBe(0);
    });

    it('counts the end of a lease as the time when its job is due', async () => {
      await add(job('a'));
      await claim({ leaseMs: 700 });
      expect(await msUntilDue('q')).toBe(700);
      expect(await msUntilDue('q', (group) => group === 'g')).toBeNull();
    });

    it('still says that a job is due when a claim found no free slot for its group', async () => {
      await add(job('a'));
      await claim({ freeSlots: () => 0 });
      expect(await msUntilDue('q')).toBe(0);
    });

    describe.each([
      ['forward', DAY],
      ['back', -DAY],
    ])('when the clock on the wall is set %s by a day', (_way, by) => {
      it('hands out what waits when its wait is over, neither sooner nor later', async () => {
        await add(job('due'), job('retry', { rank: 1, runAt: NOW + 5_000 }));
        clock().jump(by);
        expect(await claim({ leaseMs: 10_000 })).toEqual(['due']);
        expect(await msUntilDue('q')).toBe(5_000);
        clock().advance(4_999);
        expect(await claim()).toEqual([]);
        clock().advance(1);
        expect(await claim()).toEqual(['retry']);
      });

      it('ends no lease sooner or later', async () => {
        await add(job('a'));
        await claim({ leaseMs: 500 });
        clock().jump(by);
        expect(await msUntilDue('q')).toBe(500);
        clock().advance(499);
        expect(await claim()).toEqual([]);
        clock().advance(1);
        expect(await claim()).toEqual(['a']);
      });

      it('counts what is enqueued afterwards by the new time', async () => {
        clock().jump(by);
        await add(job('a', { runAt: NOW + by }), job('b', { runAt: NOW + by + 10 }));
        expect(await claim()).toEqual(['a']);
        clock().advance(10);
        expect(await claim()).toEqual(['b']);
      });
    });

    it('lets nothing wait longer when the clock is set back by a day while it is closed', async () => {
      await add(job('fresh'), job('retry', { rank: 1, runAt: NOW + 5_000 }));
      await release('fresh', NOW - 1, 0);
      clock().jump(-DAY);
      await reopen();
      expect(await claim()).toEqual(['fresh']);
      expect(await msUntilDue('q', () => false)).toBeLessThanOrEqual(5_000);
      clock().advance(5_000);
      expect(await claim()).toContain('retry');
    });

    it('counts what waits and what is claimed, by queue', async () => {
      expect((await current().stats()).queues).toEqual({});
      await add(
        job('a'),
        job('b'),
        job('later', { group: 'h', runAt: NOW + DAY }),
        job('tool', { queue: 'tools', runAt: NOW + DAY }),
      );
      const counts = async (queue: string) => (await current().stats()).queues[queue];
      expect(await counts('q')).toEqual({
        waiting: 3,
        due: 2,
        claimed: 0,
        oldestDueMs: 0,
      });
      clock().advance(250);
      expect(await counts('q')).toEqual({
        waiting: 3,
        due: 2,
        claimed: 0,
        oldestDueMs: 250,
      });
      expect(await counts('tools')).toEqual({ waiting: 1, due: 0, claimed: 0, oldestDueMs: null });
      await claim();
      expect(await counts('q')).toEqual({
        waiting: 1,
        due: 0,
        claimed: 2,
        oldestDueMs: null,
      });
      await release('a', NOW);
      await complete('b');
      await complete('later');
      expect(await counts('q')).toMatchObject({ waiting: 1, claimed: 0 });
      await complete('a');
      expect(await counts('q')).toEqual({
        waiting: 0,
        due: 0,
        claimed: 0,
        oldestDueMs: null,
      });
    });

    it('counts a job as due from the end of its lease', async () => {
      await add(job('a'));
      await claim({ leaseMs: 500 });
      const counts = async () => (await current().stats()).queues.q;
      clock().advance(499);
      expect(await counts()).toEqual({ waiting: 0, due: 0, claimed: 1, oldestDueMs: null });
      clock().advance(2);
      expect(await counts()).toEqual({ waiting: 1, due: 1, claimed: 0, oldestDueMs: 1 });
      expect(await claim()).toEqual(['a']);
    });

    it('calls back when work was added or released, and only then', async () => {
      let calls = 0;
      const stop = current().onWork(() => (calls += 1));
      await add(job('a'));
      expect(calls).toBe(1);
      await claim();
      await release('a', NOW + 1);
      expect(calls).toBe(2);
      await current().transaction((tx) => tx.others.put({ id: 'o' }));
      await complete('a');
      expect(calls).toBe(2);
      stop();
      await add(job('b'));
      expect(calls).toBe(2);
    });

    it('calls back for the queue that was named, not for others', async () => {
      let calls = 0;
      current().onWork(() => (calls += 1), job('a').queue);
      await add({ ...job('b'), queue: 'elsewhere' });
      expect(calls).toBe(0);
      await current().transaction(async (tx) => {
        await tx.jobs.enqueue({ ...job('c'), queue: 'elsewhere' });
        await tx.jobs.enqueue(job('a'));
      });
      expect(calls).toBe(1);
    });
  });
};
