/**
 * Durations are counted in buckets, each a fifth longer than the one before. So a percentile that
 * is read from them is off by at most a tenth, whether it is a millisecond or a month.
 */
const GROWTH = 1.2;

/**
 * The bucket of a duration. A duration below 0, after a clock was set back, is in the first one.
 */
export const durationBucket = (ms: number): number =>
  ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH) - 1e-9);

/** @returns the middle of a bucket, in milliseconds */
const middleOf = (bucket: number): number => (bucket === 0 ? 1 : GROWTH ** (bucket - 0.5));

/**
 * The duration that a share of all counted durations does not exceed.
 * @param counts how many durations are in each bucket
 * @param share 0.5: the median
 * @returns milliseconds; null when nothing was counted
 */
export function percentile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, n]) => sum + n, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, n] of buckets) {
    seen += n;
    if (seen >= total * share) return middleOf(bucket);
  }
  return middleOf(buckets.at(-1)![0]);
}
