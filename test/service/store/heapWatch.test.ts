// How full the store takes its heap to be: measured after collections, estimated between them.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  HeapWatch,
  heapLimitBytes,
  v8Heap,
} from '../../../service/src/store/lowdb/memory/heapWatch.ts';
import { HeapAt } from '../../helpers/heapAt.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { listeningLog } from './listeningLog.ts';

const MIB = 2 ** 20;

describe('the watch over the heap', () => {
  let heap: HeapAt;
  let watch: HeapWatch;
  let log: ReturnType<typeof listeningLog>;
  /** Each holder's share of all stored data; at first one holder has all of it. */
  let shares: Readonly<Record<string, number>>;
  const held = {
    get holderCount() {
      return Object.keys(shares).length;
    },
    get largestShare() {
      return Math.max(...Object.values(shares));
    },
    shareOf: (holder: string) => shares[holder] ?? 0,
    inOrder: () => Object.keys(shares),
  };
  beforeEach(() => {
    shares = { only: 1 };
    [heap, log] = [new HeapAt(), listeningLog()];
    watch = new HeapWatch(log, () => held, heap);
    watch.start();
  });
  afterEach(() => watch.close());

  it('refuses new visitors from 65 % on and all additions from 70 % on, and says so once each', async () => {
    expect(watch.pressure.refuses).toBe('nothing');
    heap.collected(0.66);
    expect(watch.pressure).toMatchObject({
      refuses: 'visitors',
      liveBytes: 660 * MIB,
      limitBytes: 1000 * MIB,
    });
    heap.collected(0.71);
    await waitFor('the second mark', () => log.lines.length === 2);
    expect(watch.pressure.refuses).toBe('additions');
    expect(log.lines).toEqual([
      'what is stored takes 660 of the 1000 MiB that the heap may hold: new visitors are refused until there is room',
      'what is stored takes 710 of the 1000 MiB that the heap may hold: all additions are refused until there is room',
    ]);
  });

  it('collects nothing by itself while there is room', () => {
    heap.collected(0.64);
    watch.note(1000);
    expect([watch.pressure.refuses, heap.collections]).toEqual(['nothing', 0]);
  });

  it('counts what is written since the last collection, and measures when that seems to reach a mark', async () => {
    heap.collected(0.6);
    // A character may take two bytes.
    watch.note(30 * MIB);
    expect(watch.pressure.refuses).toBe('visitors');
    watch.note(25 * MIB);
    expect(watch.pressure.refuses).toBe('additions');
    await waitFor('a measurement', () => heap.collections === 1);
    expect(watch.pressure).toMatchObject({ refuses: 'nothing', liveBytes: 600 * MIB });
    expect(log.lines).toEqual([]);
  });

  it('accepts data again once it is 5 % below the mark, and measures by itself: without writes, nothing else would', async () => {
    heap.collected(0.72);
    expect(watch.pressure.refuses).toBe('additions');
    heap.share = 0.67;
    watch.note(1);
    await waitFor('another measurement', () => heap.collections === 2);
    expect(watch.pressure.refuses).toBe('additions');
    heap.share = 0.64;
    watch.note(1);
    await waitFor('less to be refused', () => watch.pressure.refuses === 'visitors');
    heap.share = 0.59;
    watch.note(1);
    await waitFor('all to be taken', () => watch.pressure.refuses === 'nothing');
    expect(log.lines.at(-1)).toMatch(/everything is accepted again$/);
  });

  it('refuses holders of more than is free 10 % of the memory sooner, and the others only at the last mark', async () => {
    shares = { large: 0.85, middle: 0.14, small: 0.01 };
    const refused = () => [
      watch.pressure.refuses,
      ...Object.keys(shares).filter((holder) => watch.pressure.holdsTooMuch(holder)),
    ];
    heap.collected(0.54);
    expect(watch.pressure.refuses).toBe('nothing');
    heap.collected(0.56);
    expect(refused()).toEqual(['visitors_of_largest', 'large']);
    heap.collected(0.61);
    expect(refused()[1]).toBe('large');
    await waitFor('another measurement', () => watch.pressure.refuses === 'largest');
    // Less is free now, and `middle` holds more than that; `small` does not, while anything is free.
    heap.collected(0.65);
    expect(refused()).toEqual(['largest', 'large', 'middle']);
    heap.collected(0.69);
    expect(refused()).toEqual(['largest', 'large', 'middle']);
    heap.collected(0.71);
    expect(watch.pressure.refuses).toBe('additions');
    expect(log.lines[0]).toBe(
      'what is stored takes 560 of the 1000 MiB that the heap may hold: new visitors of workspaces that hold more than is free are refused until there is room',
    );
  });

  it('refuses nobody sooner while all hold little', () => {
    shares = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`holder ${i}`, 0.05]));
    heap.collected(0.66);
    expect([watch.pressure.refuses, heap.collections]).toEqual(['nothing', 0]);
    heap.collected(0.68);
    expect(watch.pressure.refuses).toBe('largest');
  });

  it('does not count garbage that a background collection leaves as stored data', () => {
    heap.share = 0.5;
    const collect = heap.usedBytes.bind(heap);
    heap.usedBytes = () => (heap.collections === 0 ? 0.9 * heap.limitBytes : collect());
    heap.collected(0.5);
    expect([watch.pressure.refuses, heap.collections]).toEqual(['nothing', 1]);
  });
});

describe("V8's heap", () => {
  it('tells of its own collections, and not of ours, which would be measured again and again', async () => {
    const heap = v8Heap();
    let told = 0;
    const stop = heap.onCollected(() => (told += 1));
    try {
      heap.collect();
      await sleep(100);
      expect(told).toBe(0);
      for (const kept: unknown[] = []; told === 0; await turn())
        kept.push(new Array(1_000_000).fill(0));
    } finally {
      stop();
    }
  });
});

describe('what old objects may take', () => {
  it('is the last --max-old-space-size, or else the limit without the young generation', () => {
    expect(heapLimitBytes(['--max-old-space-size=600'], 792 * MIB)).toBe(600 * MIB);
    expect(
      heapLimitBytes(
        ['--max-old-space-size=600', '--no-warnings', '--max_old_space_size=300'],
        492 * MIB,
      ),
    ).toBe(300 * MIB);
    expect(heapLimitBytes(['"--max-old-space-size=600"'], 792 * MIB)).toBe(600 * MIB);
    expect(heapLimitBytes([], 4288 * MIB)).toBe(4096 * MIB);
    expect(heapLimitBytes(['--max-old-space-size=9000'], 670 * MIB)).toBe(640 * MIB);
  });

  it('knows it too when it is a percentage of the memory, which Node prefers', () => {
    const options = ['--max-old-space-size-percentage=12.5', '--max-old-space-size=900'];
    expect(heapLimitBytes(options, 448 * MIB, 2048 * MIB)).toBe(256 * MIB);
  });
});
