import type { Deps } from '../platform/deps.ts';
import type { Workspace } from '../team/index.ts';
import { added } from './fold.ts';
import { startOf } from './overviewStore.ts';
import { dayOfHour, type Range, slotBefore, slotsOf } from './range.ts';
import { KeyReader, Tally } from './tally.ts';

/** More than a busy service adds until the next fold. Increments beyond it show a little later. */
const MAX_INCREMENTS = 2_000;

interface Slot {
  /** An hour of UTC, `2026-11-21T10`, or a day of the time zone, `2026-11-21`. */
  readonly start: string;
  readonly counts: Tally;
}

export interface CountsOfRange {
  readonly slots: readonly Slot[];
  /** Of all slots together. */
  readonly total: Tally;
}

/**
 * What happened in a workspace within a range, hour by hour or day by day, up to now. Days of UTC
 * are stored; days of other time zones are added up from their hours, up to 2,200 hours.
 * @param timeZone IANA name
 */
export async function readCounts(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id: workspaceId }: Workspace,
  range: Range,
  timeZone = 'UTC',
): Promise<CountsOfRange> {
  const now = clock.now();
  const addsHours = range.period === 'day' && timeZone !== 'UTC';
  const period = addsHours ? 'hour' : range.period;
  const slotOf = (start: string) => (addsHours ? dayOfHour(start, timeZone) : start);
  // One day more than the range: a day on which clocks are put back has 25 hours.
  const slotsRead = addsHours ? (range.slots + 1) * 24 : range.slots;
  const after = { value: slotBefore(period, now, slotsRead) };
  // Both in one transaction, so that no increment is missed, or counted in both.
  const [counters, increments] = await store.transaction((tx) =>
    Promise.all([
      tx.counters.find({
        where: { workspaceId, period },
        orderBy: 'start',
        after,
        limit: slotsRead + 1,
      }),
      tx.increments.find({ where: { workspaceId }, limit: MAX_INCREMENTS }),
    ]),
  );
  const sums = new Map<string, Readonly<Record<string, number>>>();
  const add = (start: string, counts: Readonly<Record<string, number>>) =>
    sums.set(slotOf(start), added(sums.get(slotOf(start)) ?? {}, counts));
  for (const { start, counts } of counters) add(start, counts);
  for (const { hour, counts } of increments) add(startOf(period, hour), counts);
  const keys = new KeyReader();
  const slots = slotsOf(range, now, timeZone).map((start) => ({
    start,
    counts: sums.get(start) ?? {},
  }));
  return {
    slots: slots.map(({ start, counts }) => ({ start, counts: new Tally(counts, keys) })),
    total: new Tally(added(...slots.map(({ counts }) => counts)), keys),
  };
}
