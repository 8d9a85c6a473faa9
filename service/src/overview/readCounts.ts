import type { Deps } from '../platform/deps.ts';
import type { Workspace } from '../team/index.ts';
import { added } from './fold.ts';
import { startOf } from './overviewStore.ts';
import { type Range, slotBefore, slotsOf } from './range.ts';
import { KeyReader, Tally } from './tally.ts';

/** More than a busy service counts until the next fold; what is beyond shows a little later. */
const MAX_INCREMENTS = 2_000;

export interface Slot {
  /** In UTC: `2026-11-21T10` or `2026-11-21`. */
  readonly start: string;
  readonly counts: Tally;
}

export interface CountsOfRange {
  readonly slots: readonly Slot[];
  /** Of all slots together. */
  readonly total: Tally;
}

/** What happened in a workspace within a range, hour by hour or day by day, up to now. */
export async function readCounts(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  { id: workspaceId }: Workspace,
  range: Range,
): Promise<CountsOfRange> {
  const now = clock.now();
  const { period, slots: most } = range;
  const after = { value: slotBefore(period, now, most) };
  // Both at once, so that they see one moment: an increment is in one of them alone.
  const [counters, increments] = await store.transaction((tx) =>
    Promise.all([
      tx.counters.find({
        where: { workspaceId, period },
        orderBy: 'start',
        after,
        limit: most + 1,
      }),
      tx.increments.find({ where: { workspaceId }, limit: MAX_INCREMENTS }),
    ]),
  );
  const sums = new Map(counters.map(({ start, counts }) => [start, counts]));
  for (const { hour, counts } of increments) {
    const start = startOf(period, hour);
    sums.set(start, added(sums.get(start) ?? {}, counts));
  }
  const keys = new KeyReader();
  const slots = slotsOf(range, now).map((start) => ({ start, counts: sums.get(start) ?? {} }));
  return {
    slots: slots.map(({ start, counts }) => ({ start, counts: new Tally(counts, keys) })),
    total: new Tally(added(...slots.map(({ counts }) => counts)), keys),
  };
}
