import { describe, expect, it } from '@jest/globals';
import { measureSteady } from '../../bench/steady.ts';

/** Kept for ever, they are 6 MB more of the heap. Only the last few are still there at the end. */
const ENOUGH = 170;

describe('a service under a steady load, with a retention of a second', () => {
  it('gives back memory and disk that are not needed any more', async () => {
    const { conversations, snapshots, heapAfterMb, heapBeforeMb } = await measureSteady({
      keptForMs: 1000,
      heapMb: 128,
      atLeast: ENOUGH,
      emptyKb: 200,
    });
    expect(conversations).toBeGreaterThanOrEqual(ENOUGH);
    expect(snapshots).toBeGreaterThan(0);
    expect(heapAfterMb).toBeLessThan(heapBeforeMb + 5);
  }, 180_000);
});
