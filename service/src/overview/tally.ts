import type { Counted } from '../platform/counting/count.ts';
import { percentile } from '../platform/counting/durations.ts';

/** What was counted under one name: what it is told apart by, and how many. */
interface Entry {
  readonly by: readonly string[];
  readonly n: number;
}

/** Reads sums of counts by name. */
export class Tally {
  readonly #entries = new Map<string, Entry[]>();

  constructor(counts: Readonly<Record<string, number>>) {
    for (const [key, n] of Object.entries(counts)) {
      const [name = '', ...by] = key.split(' ');
      const entries = this.#entries.get(name) ?? [];
      if (entries.length === 0) this.#entries.set(name, entries);
      entries.push({ by, n });
    }
  }

  /** How many in all. @param first what they have to be told apart by, as far as it is given */
  sum(name: keyof Counted, ...first: readonly string[]): number {
    return this.#of(name, first).reduce((sum, { n }) => sum + n, 0);
  }

  /** How many of each value, which follows `first`. */
  each(name: keyof Counted, ...first: readonly string[]): ReadonlyMap<string, number> {
    return sumsOf(this.#of(name, first), first.length);
  }

  /** How many of each second value, whatever the first one is. */
  eachSecond(name: keyof Counted): ReadonlyMap<string, number> {
    return sumsOf(this.#of(name, []), 1);
  }

  /**
   * The duration in milliseconds that a share stays within; null when there is none. The bucket is
   * the last of what they are told apart by.
   */
  percentile(name: keyof Counted, share: number, ...first: readonly string[]): number | null {
    const buckets = new Map<number, number>();
    for (const { by, n } of this.#of(name, first)) {
      const bucket = Number(by.at(-1));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + n);
    }
    return percentile(buckets, share);
  }

  #of(name: string, first: readonly string[]): readonly Entry[] {
    const entries = this.#entries.get(name) ?? [];
    return first.length === 0
      ? entries
      : entries.filter(({ by }) => first.every((value, at) => by[at] === value));
  }
}

function sumsOf(entries: readonly Entry[], place: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { by, n } of entries) {
    const value = by[place] ?? '';
    sums.set(value, (sums.get(value) ?? 0) + n);
  }
  return sums;
}
