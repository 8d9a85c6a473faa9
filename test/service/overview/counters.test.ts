// The counters themselves: nothing is lost and nothing counts twice, even with several at work.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { foldAll } from '../../../service/src/overview/fold.ts';
import { RANGES, type Range } from '../../../service/src/overview/range.ts';
import { readCounts } from '../../../service/src/overview/readCounts.ts';
import { durationLabel, slotLabel } from '../../../service/src/overview/words.ts';
import { sweepCounters } from '../../../service/src/overview/sweepCounters.ts';
import { count } from '../../../service/src/platform/counting/count.ts';
import { durationBucket, percentile } from '../../../service/src/platform/counting/durations.ts';
import { createWorkspace } from '../../../service/src/team/operations/team.ts';
import type { Workspace } from '../../../service/src/team/workspace.ts';
import { openFreshStore, type FreshStore } from '../../helpers/openStore.ts';
import { TestClock } from '../../helpers/testClock.ts';

const DAY_MS = 86_400_000;
const [HOURS, DAYS, , QUARTER] = RANGES;

describe('counters', () => {
  let fresh: FreshStore;
  let workspace: Workspace;
  let clock: TestClock;
  beforeEach(async () => {
    clock = new TestClock(Date.parse('2026-11-21T12:30:00Z'));
    fresh = await openFreshStore();
    workspace = await createWorkspace({ store: fresh.store, clock }, 'Test');
  });
  afterEach(() => fresh.remove());

  const countOnce = (at = clock.now()) =>
    fresh.store.transaction((tx) => count(tx, workspace.id, at, ['opened', ['web_chat']]));
  const opened = async (range: Range = HOURS) =>
    (await readCounts({ store: fresh.store, clock }, workspace, range)).total.sum('opened');
  const stored = (name: 'increments' | 'counters') =>
    fresh.store.transaction<readonly unknown[]>((tx) =>
      name === 'increments'
        ? tx.increments.find({ where: {}, limit: 10_000 })
        : tx.counters.find({ where: { period: 'hour' }, orderBy: 'start', limit: 10_000 }),
    );

  it('are right before, during and after folding, even when several fold at once', async () => {
    const all = 1_300;
    const readings: number[] = [];
    let done = 0;
    const counting = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (done < all) {
          done += 1;
          await countOnce();
        }
      }),
    );
    const folding = async () => {
      do await foldAll(fresh.store);
      while (done < all);
    };
    const reading = async () => {
      do readings.push(await opened());
      while (done < all);
    };
    await Promise.all([counting, folding(), folding(), reading()]);
    await foldAll(fresh.store);
    expect(await opened()).toBe(all);
    expect(await opened(DAYS)).toBe(all);
    expect(await stored('increments')).toHaveLength(0);
    expect(readings).toEqual([...readings].sort((a, b) => a - b));
  });

  it('count nothing of a transaction that fails', async () => {
    const failing = fresh.store.transaction(async (tx) => {
      await count(tx, workspace.id, clock.now(), ['opened', ['web_chat']]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await countOnce();
    expect(await opened()).toBe(1);
  });

  it('add one document per transaction, however much it counts', async () => {
    await fresh.store.transaction(async (tx) => {
      const opened = ['opened', ['web_chat']] as const;
      await count(tx, workspace.id, clock.now(), opened);
      await count(tx, workspace.id, clock.now(), opened, ['closed', ['web_chat', 'unknown']]);
    });
    expect(await stored('increments')).toHaveLength(1);
    expect(await opened()).toBe(2);
  });

  it('stay as days when their hours are deleted', async () => {
    await countOnce();
    await foldAll(fresh.store);
    clock.advance(89 * DAY_MS);
    await sweepCounters(fresh.store, clock.now());
    expect(await stored('counters')).toHaveLength(1);
    clock.advance(4 * DAY_MS);
    await countOnce();
    await foldAll(fresh.store);
    await sweepCounters(fresh.store, clock.now());
    expect(await stored('counters')).toHaveLength(1);
    clock.advance(-4 * DAY_MS);
    expect(await opened(QUARTER)).toBe(1);
  });

  describe('days of a time zone', () => {
    const countAt = (...times: readonly string[]) =>
      fresh.store.transaction(async (tx) => {
        for (const time of times)
          await count(tx, workspace.id, new Date(time), ['opened', ['web_chat']]);
      });
    /** How much was opened on each day; days without any are left out. */
    const openedOn = async (now: string, timeZone: string, range: Range = DAYS) => {
      const deps = { store: fresh.store, clock: { now: () => new Date(now) } };
      const { slots } = await readCounts(deps, workspace, range, timeZone);
      expect(slots).toHaveLength(range.slots);
      return Object.fromEntries(
        slots.map(({ start, counts }) => [start, counts.sum('opened')]).filter(([, n]) => n !== 0),
      );
    };

    it('have 25 hours when clocks are put back, and 23 when they are put forward', async () => {
      // In Berlin, 25 October 2026 goes from 22:00 to 23:00 UTC, 29 March from 23:00 to 22:00.
      await countAt('2026-10-24T21:59:00Z', '2026-10-24T22:00:00Z', '2026-10-25T00:30:00Z');
      await countAt('2026-10-25T01:30:00Z', '2026-10-25T22:59:00Z', '2026-10-25T23:00:00Z');
      const inAutumn = { '2026-10-24': 1, '2026-10-25': 4, '2026-10-26': 1 };
      expect(await openedOn('2026-10-27T12:00:00Z', 'Europe/Berlin')).toEqual(inAutumn);
      await foldAll(fresh.store);
      expect(await openedOn('2026-10-27T12:00:00Z', 'Europe/Berlin')).toEqual(inAutumn);
      await countAt('2026-03-28T22:59:00Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:00Z');
      await countAt('2026-03-29T22:00:00Z');
      expect(await openedOn('2026-03-31T12:00:00Z', 'Europe/Berlin')).toEqual({
        '2026-03-28': 1,
        '2026-03-29': 2,
        '2026-03-30': 1,
      });
    });

    it('are the last ones of the reader, who may be a day ahead of UTC or behind it', async () => {
      await countAt('2026-10-27T11:30:00Z');
      const now = '2026-10-27T11:45:00Z';
      expect(await openedOn(now, 'Pacific/Kiritimati')).toEqual({ '2026-10-28': 1 });
      expect(await openedOn(now, 'Pacific/Pago_Pago')).toEqual({ '2026-10-27': 1 });
      expect(await openedOn(now, 'UTC')).toEqual({ '2026-10-27': 1 });
    });

    it('leave the UTC hour in which they begin to the day before', async () => {
      // In India, 27 October begins at 18:30 UTC.
      await countAt('2026-10-26T17:59:00Z', '2026-10-26T18:10:00Z');
      expect(await openedOn('2026-10-26T18:15:00Z', 'Asia/Kolkata')).toEqual({ '2026-10-26': 2 });
      await countAt('2026-10-26T18:50:00Z', '2026-10-26T19:00:00Z');
      expect(await openedOn('2026-10-27T12:00:00Z', 'Asia/Kolkata')).toEqual({
        '2026-10-26': 3,
        '2026-10-27': 1,
      });
    });

    it('are ninety in the longest range, and the first of them is whole', async () => {
      await countAt('2026-07-29T22:00:00Z', '2026-07-29T21:59:00Z');
      await foldAll(fresh.store);
      expect(await openedOn('2026-10-27T22:59:00Z', 'Europe/Berlin', QUARTER)).toEqual({
        '2026-07-30': 1,
      });
    });
  });
});

it('an hour is named by the reader’s clock, and comes twice when clocks are put back', () => {
  const hours = ['2026-10-24T23', '2026-10-25T00', '2026-10-25T01'];
  expect(hours.map((hour) => slotLabel(hour, 'Europe/Berlin'))).toEqual([
    '01:00',
    '02:00',
    '02:00',
  ]);
  expect(slotLabel('2026-10-26T18', 'Asia/Kolkata')).toBe('23:30');
  expect(slotLabel('2026-10-26', 'Asia/Kolkata')).toBe('26 Oct');
});

it.each([
  [820, '820 ms'],
  [999.4, '999 ms'],
  [999.6, '1 s'],
  [59_400, '59 s'],
  [59_600, '1 min'],
  [190_000, '3.2 min'],
  [59.6 * 60_000, '1 h'],
  [14 * 3_600_000, '14 h'],
  [23.6 * 3_600_000, '1 d'],
  [11 * 86_400_000, '11 d'],
])('%d ms are %s, and never 60 s or 24 h', (ms, label) => expect(durationLabel(ms)).toBe(label));

describe('percentiles of durations', () => {
  const percentileOf = (share: number, ...durations: readonly number[]) => {
    const buckets = new Map<number, number>();
    for (const ms of durations)
      buckets.set(durationBucket(ms), (buckets.get(durationBucket(ms)) ?? 0) + 1);
    return percentile(buckets, share);
  };

  it.each([1, 3, 40, 999, 1_000, 65_432, 3_600_000, 30 * DAY_MS])(
    'are off by a tenth at most: %d ms',
    (ms) => {
      const read = percentileOf(0.5, ms)!;
      expect(Math.abs(read - ms) / ms).toBeLessThan(0.1);
    },
  );

  it('are the duration that a share of all durations stays within', () => {
    const durations = Array.from({ length: 100 }, (_, at) => (at + 1) * 1_000);
    for (const share of [0.5, 0.9]) {
      const ms = share * 100_000;
      expect(Math.abs(percentileOf(share, ...durations)! - ms) / ms).toBeLessThan(0.1);
    }
    expect(percentileOf(0.5)).toBeNull();
    expect(percentileOf(0.5, -5)).toBe(1);
  });
});
