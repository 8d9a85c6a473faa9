/** Where the time comes from; tests bring their own. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** ISO 8601 with a numeric offset, as every time on the wire: `2026-11-21T10:00:00.000+00:00`. */
export const timestamp = (date: Date): string => date.toISOString().replace('Z', '+00:00');
