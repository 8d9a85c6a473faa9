import { beforeEach, describe, expect, it } from '@jest/globals';
import { TtlCache } from '../../../../service/src/store/postgres/ttlCache.ts';

describe('a cached value', () => {
  let nowMs: number;
  let tookMs: number;
  let readings: number;
  let cache: TtlCache<number>;
  beforeEach(() => {
    nowMs = 0;
    tookMs = 100;
    readings = 0;
    const read = async () => {
      readings += 1;
      nowMs += tookMs;
      if (readings === 3) throw new Error('no');
      return readings;
    };
    cache = new TtlCache(read, 5_000, () => nowMs);
  });

  it('is read once for all callers that ask at the same time', async () => {
    expect(await Promise.all([cache.get(), cache.get(), cache.get()])).toEqual(
      Array(3).fill({ value: 1, ageMs: 0 }),
    );
  });

  it('is reused for twenty times as long as its read took, and has an age', async () => {
    await cache.get();
    nowMs += 1_999;
    expect(await cache.get()).toEqual({ value: 1, ageMs: 1_999 });
    nowMs += 1;
    expect(await cache.get()).toEqual({ value: 2, ageMs: 0 });
  });

  it('is not reused for longer than the maximum, however long its read took', async () => {
    tookMs = 60_000;
    await cache.get();
    nowMs += 4_999;
    expect(await cache.get()).toMatchObject({ value: 1 });
    nowMs += 1;
    expect(await cache.get()).toMatchObject({ value: 2 });
  });

  it('is read again each time when reads are cheap', async () => {
    tookMs = 20;
    await cache.get();
    expect(await cache.get()).toMatchObject({ value: 2 });
  });

  it('is read again after a read that failed', async () => {
    tookMs = 1;
    await cache.get();
    await cache.get();
    await expect(cache.get()).rejects.toThrow('no');
    expect(await cache.get()).toMatchObject({ value: 4 });
  });
});
