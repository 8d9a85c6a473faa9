import type { Clock, SteadyClock } from '../clock.ts';
import type { ServiceStore } from '../../store/collections.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A clock this far ahead of the newest event may be wrong: an empty battery, a typing error. */
const MAX_PLAUSIBLE_LEAD_MS = 7 * DAY_MS;
/** Long enough for the network to correct a wrong clock. */
const DOUBT_LASTS_MS = HOUR_MS;

interface MonotonicClockOptions {
  readonly clock: SteadyClock;
  readonly store: Pick<ServiceStore, 'transaction'>;
  readonly log: { warn(message: string): void };
}

/**
 * A clock for retention. What was removed does not come back, so when in doubt, this clock is
 * behind. It returns the earlier of the wall clock and the time counted since the start, so nothing
 * is removed when the wall clock jumps ahead. If the wall clock was more than a week ahead of the
 * newest event at the start, this clock counts from that event for the first hour.
 * @see docs/decisions/0020-waits-use-a-monotonic-clock.md
 */
export async function openMonotonicClock({
  clock,
  store,
  log,
}: MonotonicClockOptions): Promise<Clock> {
  const [newest] = await store.transaction((tx) =>
    tx.events.find({ where: {}, direction: 'desc', limit: 1 }),
  );
  const wall = clock.now().getTime();
  const steady = clock.steadyMs();
  const known = newest ? Date.parse(newest.createdAt) : wall;
  const isDoubtful = wall - known > MAX_PLAUSIBLE_LEAD_MS;
  if (isDoubtful) {
    log.warn(
      `the clock says ${clock.now().toISOString()}, days after the newest event stored (${newest!.createdAt}); nothing is removed for its age within the next hour, in case the clock is wrong`,
    );
  }
  return {
    now() {
      const elapsed = clock.steadyMs() - steady;
      const counted = (isDoubtful && elapsed < DOUBT_LASTS_MS ? known : wall) + elapsed;
      return new Date(Math.min(clock.now().getTime(), counted));
    },
  };
}
