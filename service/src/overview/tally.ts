import type { Counted } from '../platform/counting/count.ts';
import { percentile } from '../platform/counting/durations.ts';

/** What a key says: a name, and what is told apart by. */
interface Key {
  readonly name: string;
  readonly by: readonly string[];
}

/** What was counted under one name: what it is told apart by, and how many. */
interface Entry {
  readonly by: readonly string[];
  readonly n: number;
}

/** Reads keys, each of them once: ninety days have mostly the same. */
export class KeyReader {
  readonly #known = new Map<string, Key>();

  read(key: string): Key {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [name = '', ...by] = key.split(' ');
    const read = { name, by };
    this.#known.set(key, read);
    return read;
  }
}

/** Reads sums of counts by name. */
export class Tally {
  readonly #entries = new Map<string, Entry[]>();

  constructor(counts: Readonly<Record<string, number>>, keys: KeyReader) {
    for (const key in counts) {
      const { name, by } = keys.read(key);
      const entries = this.#entries.get(name);
      const entry = { by, n: counts[key]! };
      if (entries === undefined) this.#entries.set(name, [entry]);
      else entries.push(entry);
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
