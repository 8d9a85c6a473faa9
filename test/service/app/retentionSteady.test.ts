import { describe, expect, it } from '@jest/globals';
import { measureSteady } from '../../bench/steady.ts';

/** So many, kept for ever, take 6 MB of the heap. Here only the last few are left at the end. */
const MIN_CONVERSATIONS = 170;

describe('a service under a steady load, with a retention of a second', () => {
  it('gives back memory and disk that are not needed any more', async () => {
    const { conversations, snapshots, heapAfterMb, heapBeforeMb } = await measureSteady({
      keptForMs: 1000,
      heapMb: 128,
      atLeast: MIN_CONVERSATIONS,
      emptyKb: 200,
    });
    expect(conversations).toBeGreaterThanOrEqual(MIN_CONVERSATIONS);
    expect(snapshots).toBeGreaterThan(0);
    expect(heapAfterMb).toBeLessThan(heapBeforeMb + 5);
  }, 180_000);
});
