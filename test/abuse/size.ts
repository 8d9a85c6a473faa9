/** ABUSE=short: what CI has time for. */
export const isShort = process.env.ABUSE === 'short';

/** A number of the attack, for the short form and for the full one. */
export const sized = (short: number, full: number): number => (isShort ? short : full);

/** How long the honest load runs without an attack, to compare with. */
export const BEFORE_MS = sized(3000, 10_000);
/** How long attacks go on that have no end of their own. */
export const ATTACK_SECONDS = sized(5, 20);

const MINUTE_MS = 60_000;

/**
 * How many minutes have begun since `startedAt`: a limit of so many a minute may be used up in
 * each.
 */
export const minutesSince = (startedAt: number): number =>
  1 + Math.floor((performance.now() - startedAt) / MINUTE_MS);
