import type { Counted } from '../platform/counting/count.ts';
import { percentile } from '../platform/counting/durations.ts';

/** A key of counts, taken apart. */
interface Key {
  readonly name: string;
  readonly labels: readonly string[];
}

/** What was counted under one name with the same labels. */
interface Entry {
  readonly labels: readonly string[];
  readonly n: number;
}

/** Takes keys apart, each only once: most of ninety days' keys are the same. */
export class KeyReader {
  readonly #known = new Map<string, Key>();

  read(key: string): Key {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const [name = '', ...labels] = key.split(' ');
    const read = { name, labels };
    this.#known.set(key, read);
    return read;
  }
}

/** Sums counts by their names and labels. */
export class Tally {
  readonly #entries = new Map<string, Entry[]>();

  constructor(counts: Readonly<Record<string, number>>, keys: KeyReader) {
    for (const key in counts) {
      const { name, labels } = keys.read(key);
      const entries = this.#entries.get(name);
      const entry = { labels, n: counts[key]! };
      if (entries === undefined) this.#entries.set(name, [entry]);
      else entries.push(entry);
    }
  }

  /** How many in all. @param firstLabels only those whose labels begin with these */
  sum(name: keyof Counted, ...firstLabels: readonly string[]): number {
    return this.#of(name, firstLabels).reduce((sum, { n }) => sum + n, 0);
  }

  /** How many by the label that follows `firstLabels`. */
  each(name: keyof Counted, ...firstLabels: readonly string[]): ReadonlyMap<string, number> {
    return sumsOf(this.#of(name, firstLabels), firstLabels.length);
  }

  /** How many by the second label, whatever the first one is. */
  eachBySecondLabel(name: keyof Counted): ReadonlyMap<string, number> {
    return sumsOf(this.#of(name, []), 1);
  }

  /**
   * The duration in milliseconds that a share stays within; null when nothing was counted. The last
   * label is the bucket.
   */
  percentile(name: keyof Counted, share: number, ...firstLabels: readonly string[]): number | null {
    const buckets = new Map<number, number>();
    for (const { labels, n } of this.#of(name, firstLabels)) {
      const bucket = Number(labels.at(-1));
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + n);
    }
    return percentile(buckets, share);
  }

  #of(name: string, firstLabels: readonly string[]): readonly Entry[] {
    const entries = this.#entries.get(name) ?? [];
    return firstLabels.length === 0
      ? entries
      : entries.filter(({ labels }) => firstLabels.every((label, at) => labels[at] === label));
  }
}

function sumsOf(entries: readonly Entry[], position: number): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, n } of entries) {
    const label = labels[position] ?? '';
    sums.set(label, (sums.get(label) ?? 0) + n);
  }
  return sums;
}
