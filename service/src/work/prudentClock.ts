import type { Clock, SteadyClock } from '../domain/clock.ts';
import type { ServiceStore } from '../domain/collections.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * A clock this far ahead of all that is stored may be wrong: a machine without a battery, a typing
 * error.
 */
const DOUBTFUL_MS = 7 * DAY_MS;
/** By then a clock that is set over the network has been set right. */
const DOUBT_LASTS_MS = HOUR_MS;

export interface PrudentClockOptions {
  readonly clock: SteadyClock;
  readonly store: Pick<ServiceStore, 'transaction'>;
  readonly log: { warn(message: string): void };
}

/**
 * A clock for removing what is old: when in doubt it is early, since what was removed cannot be had
 * back. It says the earlier of the wall clock and of the time counted since the start; and when the
 * wall clock stood more than a week ahead of the newest event at the start, it goes on from that
 * event for an hour.
 * @see decision 0020
 */
export async function openPrudentClock({ clock, store, log }: PrudentClockOptions): Promise<Clock> {
  const [newest] = await store.transaction((tx) =>
    tx.events.find({ where: {}, direction: 'desc', limit: 1 }),
  );
  const wall = clock.now().getTime();
  const steady = clock.steadyMs();
  const known = newest ? Date.parse(newest.createdAt) : wall;
  const isDoubtful = wall - known > DOUBTFUL_MS;
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
