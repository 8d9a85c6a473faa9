import { beforeEach, describe, expect, it } from '@jest/globals';
import { Kept } from '../../../../service/src/store/postgres/kept.ts';

describe('a reading that is kept', () => {
  let nowMs: number;
  let tookMs: number;
  let readings: number;
  let kept: Kept<number>;
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
    kept = new Kept(read, 5_000, () => nowMs);
  });

  it('is shared by all who ask at once', async () => {
    expect(await Promise.all([kept.read(), kept.read(), kept.read()])).toEqual(
      Array(3).fill({ value: 1, ageMs: 0 }),
    );
  });

  it('is used again for twenty times as long as it took, and says how old it is', async () => {
    await kept.read();
    nowMs += 1_999;
    expect(await kept.read()).toEqual({ value: 1, ageMs: 1_999 });
    nowMs += 1;
    expect(await kept.read()).toEqual({ value: 2, ageMs: 0 });
  });

  it('is not used for longer than was said, however long it took', async () => {
    tookMs = 60_000;
    await kept.read();
    nowMs += 4_999;
    expect(await kept.read()).toMatchObject({ value: 1 });
    nowMs += 1;
    expect(await kept.read()).toMatchObject({ value: 2 });
  });

  it('is read anew each time when that is cheap', async () => {
    tookMs = 20;
    await kept.read();
    expect(await kept.read()).toMatchObject({ value: 2 });
  });

  it('is read anew after one that failed', async () => {
    tookMs = 1;
    await kept.read();
    await kept.read();
    await expect(kept.read()).rejects.toThrow('no');
    expect(await kept.read()).toMatchObject({ value: 4 });
  });
});
