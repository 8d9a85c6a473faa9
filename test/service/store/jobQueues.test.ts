import { expect, it } from '@jest/globals';
import { JobQueues } from '../../../service/src/store/lowdb/jobs/jobQueues.ts';
import type { Job } from '../../../service/src/store/store.ts';

const job = (id: number, group: string, runAt = 0): Job => ({
  id: `job-${id}`,
  queue: 'q',
  group,
  runAt,
  rank: 0,
  data: {},
});

const queueOf = (jobs: readonly Job[]) => {
  const queue = new JobQueues(() => true);
  for (const one of jobs) queue.schedule(one, one.runAt);
  return queue;
};

it('serves other groups as fast when 10,000 jobs wait in a full group', () => {
  const queue = queueOf(Array.from({ length: 10_000 }, (_, i) => job(i, 'full')));
  const asked: string[] = [];
  const freeSlots = (group: string) => {
    asked.push(group);
    return group === 'full' ? 0 : 5;
  };
  for (let i = 0; i < 1_000; i += 1) {
    queue.schedule(job(20_000 + i, 'other'), 0);
    expect(queue.claim({ queue: 'q', now: 1, limit: 10, freeSlots, leaseMs: 1_000 })).toHaveLength(
      1,
    );
  }
  // Asked once per claim for each group that is due, however many jobs wait in it.
  expect(asked).toHaveLength(2_000);
});

it('serves other shares as fast when 10,000 groups of a full share are due', () => {
  const queue = queueOf(Array.from({ length: 10_000 }, (_, i) => job(i, `full ${i}`)));
  const asked: string[] = [];
  const freeSlots = (group: string) => (asked.push(group), 1);
  const places = { free: 32, heldBy: (share: string) => (share === 'full' ? 32 : 0) };
  for (let i = 0; i < 1_000; i += 1) {
    queue.schedule(job(20_000 + i, `other ${i}`), 0);
    expect(
      queue.claim({ queue: 'q', now: 1, limit: 10, places, freeSlots, leaseMs: 1_000 }),
    ).toHaveLength(1);
    expect(queue.nextDueAt('q', (group) => (asked.push(group), false), places)).toBe(1_001);
    queue.forget(`job-${20_000 + i}`);
  }
  expect(asked.filter((group) => group.startsWith('full'))).toEqual([]);
});

it('does not look at groups that are not due', () => {
  const queue = queueOf(Array.from({ length: 10_000 }, (_, i) => job(i, `group-${i}`, 1_000 + i)));
  const asked: string[] = [];
  const claim = (now: number) =>
    queue.claim({
      queue: 'q',
      now,
      limit: 10,
      leaseMs: 1_000,
      freeSlots: (group) => (asked.push(group), 1),
    });
  expect(claim(1_001)).toHaveLength(2);
  expect(asked).toEqual(['group-0', 'group-1']);
  expect(queue.nextDueAt('q', () => false)).toBe(1_002);
});

it('gives a job back when asking for free slots fails', () => {
  const queue = queueOf([job(1, 'a'), job(2, 'b')]);
  const failing = () => {
    throw new Error('no');
  };
  const request = { queue: 'q', limit: 9, leaseMs: 100 };
  expect(() =>
    queue.claim({ ...request, now: 1, freeSlots: (group) => (group === 'a' ? 1 : failing()) }),
  ).toThrow('no');
  expect(queue.claim({ ...request, now: 101, freeSlots: () => 1 })).toHaveLength(2);
});
