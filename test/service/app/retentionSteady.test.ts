import { describe, expect, it } from '@jest/globals';
import { measureSteady } from '../../bench/steady.ts';

/** Without retention they are 6 MB more. Only the last few of them are still there at the end. */
const ENOUGH = 170;

describe('a service under a steady load, with a retention of a second', () => {
  it('levels off in memory and on disk, and gives back what is not needed any more', async () => {
    const { conversations, snapshots, heapAfterMb, heapBeforeMb, diskGrowth } = await measureSteady(
      { seconds: 2, keptForMs: 1000, samples: 4, heapMb: 128, atLeast: ENOUGH },
    );
    expect(conversations).toBeGreaterThanOrEqual(ENOUGH);
    expect(snapshots).toBeGreaterThan(0);
    expect(heapAfterMb).toBeLessThan(heapBeforeMb + 5);
    expect(diskGrowth).toBeLessThan(4);
  }, 180_000);
});
