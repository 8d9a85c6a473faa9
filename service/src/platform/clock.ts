/** Where the time comes from; tests bring their own. */
export interface Clock {
  now(): Date;
}

/**
 * Two readings of one clock. Times that people see or that leave the service come from `now`. Waits
 * are measured with `steadyMs`, because the time of day may be set while the process runs.
 * @see docs/decisions/0020-waits-use-a-monotonic-clock.md
 */
export interface SteadyClock extends Clock {
  /** Milliseconds since some moment of this process's life. Never jumps and never goes back. */
  steadyMs(): number;
}

export const systemClock: SteadyClock = {
  now: () => new Date(),
  steadyMs: () => performance.now(),
};

/** ISO 8601 with a numeric offset, as every time on the wire: `2026-11-21T10:00:00.000+00:00`. */
export function timestamp(date: Date): string {
  const ms = date.getTime();
  if (ms !== last.ms) last = { ms, text: date.toISOString().replace('Z', '+00:00') };
  return last.text;
}

/** One operation writes the same moment into several documents. */
let last = { ms: NaN, text: '' };
