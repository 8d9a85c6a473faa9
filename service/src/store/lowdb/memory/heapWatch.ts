import { totalmem } from 'node:os';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Logger } from '../../clockAndLog.ts';
import type { Refusal, StorePressure } from '../../store.ts';

/**
 * The shares of the heap limit at which refusals begin. With one holder, new visitors are refused
 * at `visitors` and everything that adds at `additions`. With several, a holder that has more than
 * is free is refused new visitors at `visitors_of_largest` and everything that adds at `largest`;
 * the others are refused at `additions` only.
 *
 * V8 ends the process when about 80 % is live. The room above the marks is for requests, for work
 * under way and for the next start, which needs up to 15 % more.
 * @see docs/decisions/0016-additions-are-refused-before-memory-is-full.md
 */
const MARKS = {
  visitors_of_largest: 0.55,
  largest: 0.6,
  visitors: 0.65,
  additions: 0.7,
} as const;
/** A refusal ends only this far below its mark, so that it does not go back and forth. */
const ENDS_BELOW = 0.05;

/** At most: a text with a character beyond Latin-1 takes two bytes for each character. */
const BYTES_PER_CHARACTER = 2;
const MIB = 2 ** 20;
/** In MiB. In NODE_OPTIONS, an option may stand in quotes: Docker's `--env-file` keeps them. */
const OLD_SPACE_OPTION = /^"?--max[-_]old[-_]space[-_]size=(\d+)"?$/;
/** Of the machine's memory, or of the container's. Node prefers it to the size in MiB. */
const OLD_SPACE_PERCENTAGE = /^"?--max[-_]old[-_]space[-_]size[-_]percentage=([\d.]+)"?$/;
/** By default, V8 gives young objects 3 bytes for each 64 of old ones. */
const OLD_SHARE = 64 / 67;
const LOOK_MS = 1000;
/**
 * A garbage collection stops the process for 1 to 3 ms a MiB. A rest of this many times as long
 * follows, so that collections take at most a twentieth of the time.
 */
const REST_PER_COLLECTION = 20;
/** How often to measure again while something is refused: requests may have freed memory. */
const MEASURE_AGAIN_MS = 30_000;

/** V8's heap. */
export interface Heap {
  readonly limitBytes: number;
  usedBytes(): number;
  /** Runs a major garbage collection. */
  collect(): void;
  /**
   * Calls back soon after each major garbage collection that V8 begins by itself.
   * @returns a function that stops it
   */
  onCollected(call: () => void): () => void;
}

/** The holders that share the memory. */
interface Usage {
  readonly holderCount: number;
  /** The largest holder's part of everything, from 0 to 1. */
  readonly largestShare: number;
  shareOf(holder: string): number;
  inOrder(): readonly string[];
}

/**
 * Knows how full the heap is: what was live after the last major garbage collection, plus what was
 * written since. When the sum reaches a mark, a garbage collection measures it exactly.
 */
export class HeapWatch {
  private readonly heap: Heap;
  private readonly log: Logger;
  private readonly usage: () => Usage;
  private stopWatching = () => {};
  private liveBytes: number;
  /** Characters written since `liveBytes` was measured. */
  private written = 0;
  /** Whether `liveBytes` was measured right after our own collection and contains no garbage. */
  private isExact = false;
  /** What exact measurements say must be refused. */
  private confirmed: Refusal = 'nothing';
  private logged: Refusal = 'nothing';
  private measurement = 0;
  private measuredAt = -Infinity;
  private notBefore = -Infinity;
  private lookQueued = false;

  constructor(log: Logger, usage: () => Usage, heap: Heap = v8Heap()) {
    this.heap = heap;
    this.log = log;
    this.usage = usage;
    this.liveBytes = heap.usedBytes();
  }

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
    const usage = this.usage();
    return {
      refuses: this.refuses,
      liveBytes,
      limitBytes: this.heap.limitBytes,
      marks: MARKS,
      measurement,
      largestShare: usage.largestShare,
      storedShareOf: (holder) => usage.shareOf(holder),
      holdsTooMuch: (holder) => isTooMuch(usage.shareOf(holder), fill),
      holders: () => usage.inOrder(),
    };
  }

  /** A transaction has written this much. */
  note(characters: number): void {
    this.written += characters;
    if (this.refuses !== this.confirmed) this.lookSoon();
  }

  close(): void {
    this.stopWatching();
  }

  /** The used part of the limit, with what was written since the measurement. */
  private get fill(): number {
    return (this.liveBytes + this.written * BYTES_PER_CHARACTER) / this.heap.limitBytes;
  }

  private get refuses(): Refusal {
    return higher(this.confirmed, this.refusalAt(this.fill));
  }

  /** @param margin how far below its mark each refusal applies already */
  private refusalAt(fill: number, margin = 0): Refusal {
    const isAt = (mark: keyof typeof MARKS) => fill >= MARKS[mark] - margin;
    if (isAt('additions')) return 'additions';
    if (!isAt('visitors_of_largest')) return 'nothing';
    const { holderCount, largestShare } = this.usage();
    if (holderCount <= 1) return isAt('visitors') ? 'visitors' : 'nothing';
    if (!isTooMuch(largestShare, fill)) return 'nothing';
    return isAt('largest') ? 'largest' : 'visitors_of_largest';
  }

  /** After one of V8's own collections. They count as live what was added while they ran. */
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
    this.logChange();
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
    const reached = this.refusalAt(share);
    // A refusal lasts until it is well below its mark.
    this.confirmed = higher(reached, lower(this.confirmed, this.refusalAt(share, ENDS_BELOW)));
  }

  private logChange(): void {
    const { confirmed } = this;
    if (confirmed === this.logged) return;
    const share = `what is stored takes ${inMib(this.liveBytes)} of the ${inMib(this.heap.limitBytes)} MiB that the heap may hold`;
    if (confirmed === 'nothing') this.log.info(`${share}: everything is accepted again`);
    else this.log.warn(`${share}: ${REFUSED[confirmed]} refused until there is room`);
    this.logged = confirmed;
  }
}

/** Whether a holder has more of the limit than is free up to the last mark. */
const isTooMuch = (share: number, fill: number): boolean => share * fill > MARKS.additions - fill;

const REFUSED: Readonly<Record<Exclude<Refusal, 'nothing'>, string>> = {
  visitors_of_largest: 'new visitors of workspaces that hold more than is free are',
  largest: 'additions by workspaces that hold more than is free are',
  visitors: 'new visitors are',
  additions: 'all additions are',
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

const inMib = (bytes: number) => Math.round(bytes / MIB);

/** This thread's heap. */
export const v8Heap = (): Heap => {
  // The flag makes `gc` known only to contexts that are created from now on.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return {
    limitBytes: heapLimitBytes(),
    usedBytes: () => getHeapStatistics().used_heap_size,
    collect,
    onCollected(call) {
      const observer = new PerformanceObserver((list) => {
        const entries = list.getEntries() as unknown as {
          readonly detail: { readonly kind: number; readonly flags: number };
        }[];
        // Node also reports our own collections, which are measured already.
        const isByItself = entries.some(
          ({ detail: { kind, flags } }) =>
            kind === constants.NODE_PERFORMANCE_GC_MAJOR &&
            (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) === 0,
        );
        if (isByItself) call();
      });
      observer.observe({ entryTypes: ['gc'] });
      return () => observer.disconnect();
    },
  };
};

/**
 * How many bytes old objects may take before V8 ends the process. Node's heap limit also contains
 * the young generation, which can be larger than the rest of a small heap.
 * @param options of the process; the last option that sets the size applies
 * @param memoryBytes of the machine, or of the container
 */
export const heapLimitBytes = (
  options = optionsOfProcess(),
  limitBytes = getHeapStatistics().heap_size_limit,
  memoryBytes = Math.min(process.constrainedMemory() || Infinity, totalmem()),
): number => {
  const last = (option: RegExp) =>
    Number(options.findLast((each) => option.test(each))?.match(option)![1] ?? 0);
  const percentage = last(OLD_SPACE_PERCENTAGE);
  const configuredBytes =
    percentage > 0 ? (memoryBytes * percentage) / 100 : last(OLD_SPACE_OPTION) * MIB;
  const maxBytes = limitBytes * OLD_SHARE;
  return configuredBytes === 0 ? maxBytes : Math.min(maxBytes, configuredBytes);
};

/** Options of the environment, then of the command line. */
const optionsOfProcess = (): readonly string[] => [
  ...(process.env.NODE_OPTIONS ?? '').split(/\s+/),
  ...process.execArgv,
];
