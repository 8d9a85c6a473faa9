import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from '../options.ts';
import type { Refusal, StorePressure } from '../store.ts';
import { heapLimitBytes } from './heapLimit.ts';

/**
 * Of the memory that V8 gives old objects: from `visitors` on new visitors are refused, from
 * `additions` on whatever adds. Where several share the memory, one who holds more than is free
 * comes to each of them a tenth of the memory sooner, so that the others go on. V8 itself ends a
 * process that spends its time collecting with 80 % live (`Ineffective mark-compacts near heap
 * limit`); between lies room for requests under way, for the work that goes on, and for a start,
 * which needs up to 15 % more than what it leaves behind.
 */
export const MARKS = {
  visitors_of_largest: 0.55,
  largest: 0.6,
  visitors: 0.65,
  additions: 0.7,
} as const;
/** Taken again only when it is so much below the mark, so that it does not change to and fro. */
const BELOW = 0.05;

/**
 * What a character of the journal can come to in memory at most: a text with one sign beyond
 * Latin-1 takes two bytes for each.
 */
const BYTES_PER_CHARACTER = 2;
const LOOK_MS = 1000;
/**
 * A collection stops everything for one to three milliseconds a MiB: it may take a twentieth of the
 * time.
 */
const REST_PER_COLLECTION = 20;
/**
 * While something is refused, it is measured this often even when nothing was written: what took
 * the memory may have been requests.
 */
const MEASURE_AGAIN_MS = 30_000;

/** The heap as V8 knows it. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
  /** A major collection, here and now. */
  collect(): void;
  /** Calls back soon after each major collection. Returns the way to stop. */
  onCollected(call: () => void): () => void;
}

/**
 * Knows how full the heap is: by what is live after a major collection, and between two of them by
 * what was written since. Whoever seems to have come to a mark is measured at once.
 */
export class HeapWatch {
  private readonly heap: Heap;
  private readonly log: Logger;
  private readonly held: () => Held;
  private stopWatching = () => {};
  private liveBytes: number;
  /** Characters written since. */
  private written = 0;
  /** Nothing can have been garbage when `liveBytes` was taken. */
  private isExact = false;
  /** By exact measurements alone. */
  private confirmed: Refusal = 'nothing';
  private told: Refusal = 'nothing';
  private measurement = 0;
  private measuredAt = -Infinity;
  private notBefore = -Infinity;
  private lookQueued = false;

  constructor(log: Logger, held: () => Held, heap: Heap = v8Heap()) {
    this.heap = heap;
    this.log = log;
    this.held = held;
    this.liveBytes = heap.usedBytes();
  }

  /** Begins with what is there by then. */
  start(): void {
    const stopObserving = this.heap.onCollected(() => this.observe());
    const timer = setInterval(() => this.look(), LOOK_MS).unref();
    this.stopWatching = () => {
      clearInterval(timer);
      stopObserving();
    };
    this.liveBytes = this.heap.usedBytes();
    this.lookSoon();
  }

  get pressure(): StorePressure {
    const { liveBytes, measurement, fill } = this;
    const held = this.held();
    return {
      refuses: this.refuses,
      liveBytes,
      limitBytes: this.heap.limitBytes,
      marks: MARKS,
      measurement,
      largestShare: held.largestShare,
      shareOf: (holder) => held.shareOf(holder),
      holdsTooMuch: (holder) => isTooMuch(held.shareOf(holder), fill),
      holders: () => held.inOrder(),
    };
  }

  /** So much was written. */
  note(characters: number): void {
    this.written += characters;
    if (this.refuses !== this.confirmed) this.lookSoon();
  }

  close(): void {
    this.stopWatching();
  }

  /** Of the limit, with what was written since. */
  private get fill(): number {
    return (this.liveBytes + this.written * BYTES_PER_CHARACTER) / this.heap.limitBytes;
  }

  private get refuses(): Refusal {
    return higher(this.confirmed, this.refusalAt(this.fill, 0));
  }

  private refusalAt(fill: number, below: number): Refusal {
    const isAt = (mark: keyof typeof MARKS) => fill >= MARKS[mark] - below;
    if (isAt('additions')) return 'additions';
    if (!isAt('visitors_of_largest')) return 'nothing';
    const { holders, largestShare } = this.held();
    if (holders <= 1) return isAt('visitors') ? 'visitors' : 'nothing';
    if (!isTooMuch(largestShare, fill)) return 'nothing';
    return isAt('largest') ? 'largest' : 'visitors_of_largest';
  }

  /**
   * After a collection that V8 made in the background: what came while it marked counts as live.
   */
  private observe(): void {
    this.liveBytes = this.heap.usedBytes();
    this.written = 0;
    this.isExact = false;
    this.look();
  }

  private lookSoon(): void {
    if (this.lookQueued) return;
    this.lookQueued = true;
    setImmediate(() => {
      this.lookQueued = false;
      this.look();
    });
  }

  private look(): void {
    const now = performance.now();
    const isStale = this.written > 0 || !this.isExact || now - this.measuredAt >= MEASURE_AGAIN_MS;
    if (this.refuses !== 'nothing' && isStale && now >= this.notBefore) this.measure(now);
    this.tell();
  }

  private measure(began: number): void {
    this.heap.collect();
    this.liveBytes = this.heap.usedBytes();
    this.written = 0;
    this.isExact = true;
    this.measurement += 1;
    this.measuredAt = performance.now();
    this.notBefore =
      this.measuredAt + Math.max(LOOK_MS, REST_PER_COLLECTION * (this.measuredAt - began));
    const share = this.liveBytes / this.heap.limitBytes;
    const reached = this.refusalAt(share, 0);
    // What was refused stays so until it is well below its mark.
    this.confirmed = higher(reached, lower(this.confirmed, this.refusalAt(share, BELOW)));
  }

  private tell(): void {
    const { confirmed } = this;
    if (confirmed === this.told) return;
    const share = `what is stored takes ${inMib(this.liveBytes)} of the ${inMib(this.heap.limitBytes)} MiB that the heap may hold`;
    if (confirmed === 'nothing') this.log.info(`${share}: everything is taken again`);
    else this.log.warn(`${share}: ${REFUSED[confirmed]} refused until there is room`);
    this.told = confirmed;
  }
}

/** Who shares the memory. */
export interface Held {
  readonly holders: number;
  /** What one holds of all that is held, from 0 to 1. */
  readonly largestShare: number;
  shareOf(holder: string): number;
  inOrder(): readonly string[];
}

/**
 * More of the limit than is free up to the last mark: the less is free, the smaller are those who
 * may go on.
 */
const isTooMuch = (share: number, fill: number): boolean => share * fill > MARKS.additions - fill;

const REFUSED: Readonly<Record<Exclude<Refusal, 'nothing'>, string>> = {
  visitors_of_largest: 'new visitors of those who hold more than is free are',
  largest: 'whatever is added by those who hold more than is free is',
  visitors: 'new visitors are',
  additions: 'whatever adds to it is',
};

const ORDER: readonly Refusal[] = [
  'nothing',
  'visitors_of_largest',
  'largest',
  'visitors',
  'additions',
];
const higher = (a: Refusal, b: Refusal): Refusal => (ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b);
const lower = (a: Refusal, b: Refusal): Refusal => (ORDER.indexOf(a) < ORDER.indexOf(b) ? a : b);

const inMib = (bytes: number) => Math.round(bytes / 2 ** 20);

/** The heap of this thread. */
const v8Heap = (): Heap => {
  // The flag makes `gc` known to contexts that are made from then on, and to nobody else.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return {
    limitBytes: heapLimitBytes(),
    usedBytes: () => getHeapStatistics().used_heap_size,
    collect,
    onCollected(call) {
      const observer = new PerformanceObserver((list) => {
        const entries = list.getEntries() as unknown as {
          readonly detail?: { readonly kind?: number };
        }[];
        const isMajor = entries.some(
          ({ detail }) => detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR,
        );
        if (isMajor) call();
      });
      observer.observe({ entryTypes: ['gc'] });
      return () => observer.disconnect();
    },
  };
};
