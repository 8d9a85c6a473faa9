import { describe, expect, it } from '@jest/globals';
import { measureSteady } from '../../bench/steady.ts';

/** Of them only the last few are still there at the end. */
const ENOUGH = 20;

describe('a service under a steady load, with a retention of a second', () => {
  it('levels off in memory and on disk, and gives back what is not needed any more', async () => {
    const { conversations, snapshots, heapAfterMb, heapBeforeMb, diskGrowth } = await measureSteady(
      { seconds: 6, keptForMs: 1000, samples: 4, heapMb: 128 },
    );
    expect(conversations).toBeGreaterThan(ENOUGH);
    expect(snapshots).toBeGreaterThan(0);
    // Without retention it is 15 MB more after 400 conversations.
    expect(heapAfterMb).toBeLessThan(heapBeforeMb + 8);
    expect(diskGrowth).toBeLessThan(4);
  }, 90_000);
});
