import { describe, expect, it } from '@jest/globals';
import { measureSteady } from '../../bench/steady.ts';

/** Kept for ever, they are 6 MB more of the heap. Only the last few are still there at the end. */
const ENOUGH = 170;

describe('a service under a steady load, with a retention of a second', () => {
  it('gives back memory and disk that are not needed any more', async () => {
    const { conversations, snapshots, heapAfterMb, heapBeforeMb, diskKb } = await measureSteady({
      keptForMs: 1000,
      heapMb: 128,
      atLeast: ENOUGH,
    });
    expect(conversations).toBeGreaterThanOrEqual(ENOUGH);
    expect(snapshots).toBeGreaterThan(0);
    expect(heapAfterMb).toBeLessThan(heapBeforeMb + 5);
    // The journals of the newest snapshots take half of it; with the events that stay it is 12 MB.
    expect(diskKb).toBeLessThan(4500);
  }, 180_000);
});
