/** Where the time comes from; tests bring their own. */
export interface Clock {
  now(): Date;
}

/**
 * Two readings of one clock. What people see and what leaves the service carries `now`; how long to
 * wait is counted by `steadyMs`, because somebody may set the clock on the wall.
 * @see decision 0020
 */
export interface SteadyClock extends Clock {
  /** Milliseconds since some moment of this process's life. Never jumps and never goes back. */
  steadyMs(): number;
}

export const systemClock: SteadyClock = { now: () => new Date(), steadyMs: () => performance.now() };

/** ISO 8601 with a numeric offset, as every time on the wire: `2026-11-21T10:00:00.000+00:00`. */
export const timestamp = (date: Date): string => date.toISOString().replace('Z', '+00:00');
