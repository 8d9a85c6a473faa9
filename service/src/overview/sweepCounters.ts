import type { ServiceStore } from '../store/collections.ts';
import type { Period } from './overviewStore.ts';
import { slotBefore } from './range.ts';

const BATCH = 500;
/** Days include their hours, and stay longer: for a look back at the year before. */
const SLOTS_KEPT: Readonly<Record<Period, number>> = { hour: 92 * 24, day: 400 };

/** Removes the counters of hours after 92 days, and of days after 400. */
export async function sweepCounters(
  store: Pick<ServiceStore, 'transaction'>,
  now: Date,
): Promise<void> {
  for (const period of ['hour', 'day'] as const) {
    const before = slotBefore(period, now, SLOTS_KEPT[period]);
    let removed: number;
    do {
      removed = await store.transaction(async (tx) => {
        const where = { period };
        const oldest = await tx.counters.find({ where, orderBy: 'start', limit: BATCH });
        const old = oldest.filter(({ start }) => start < before);
        for (const { id } of old) await tx.counters.delete(id);
        return old.length;
      });
    } while (removed === BATCH);
  }
}
