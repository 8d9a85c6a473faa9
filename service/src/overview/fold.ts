import type { Increment } from '../platform/counting/count.ts';
import type { ServiceStore } from '../store/collections.ts';
import { type Counter, type Period, startOf } from './overviewStore.ts';

/** One transaction removes at most this many increments. */
const BATCH = 500;
const PERIODS: readonly Period[] = ['hour', 'day'];

/**
 * Adds all increments to the counters of their hours and days. An increment is removed in the
 * transaction that adds it. If two processes take the same increment, the second transaction
 * conflicts, runs again and no longer finds it.
 */
export async function foldAll(store: Pick<ServiceStore, 'transaction'>): Promise<void> {
  while ((await foldSome(store)) === BATCH);
}

const foldSome = (store: Pick<ServiceStore, 'transaction'>): Promise<number> =>
  store.transaction(async (tx) => {
    const increments = await tx.increments.find({ where: {}, limit: BATCH });
    const sums = sumsOf(increments);
    const earlier = await Promise.all(sums.map(({ id }) => tx.counters.get(id)));
    for (const [at, sum] of sums.entries())
      await tx.counters.put({ ...sum, counts: added(earlier[at]?.counts ?? {}, sum.counts) });
    for (const { id } of increments) await tx.increments.delete(id);
    return increments.length;
  });

/** What increments add to each counter, in the order of ids: counters are locked in this order. */
function sumsOf(increments: readonly Increment[]): readonly Counter[] {
  const sums = new Map<string, Counter>();
  for (const { workspaceId, hour, counts } of increments) {
    for (const period of PERIODS) {
      const start = startOf(period, hour);
      const id = `${workspaceId} ${start}`;
      const sum = added(sums.get(id)?.counts ?? {}, counts);
      sums.set(id, { id, workspaceId, period, start, counts: sum });
    }
  }
  return [...sums.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The sum of several counts, key by key. */
export function added(
  ...all: readonly Readonly<Record<string, number>>[]
): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const counts of all) for (const key in counts) sum[key] = (sum[key] ?? 0) + counts[key]!;
  return sum;
}
