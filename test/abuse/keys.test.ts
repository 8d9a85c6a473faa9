// Attack 14: the many keys of one workspace.
import { describe, expect, it } from '@jest/globals';
import { minutesSince, sized } from './size.ts';
import { onStage } from './stage.ts';

/** Of one workspace, with all its keys. */
const CALLS_A_MINUTE = 12_000;

describe('14: API calls with 300 keys', () => {
  it('are as many as a workspace may make, and no more', () =>
    onStage({ hostileKeys: 299 }, async (stage) => {
      const { key, moreKeys } = stage.tenants.hostile;
      const calls = sized(15_000, 40_000);
      const startedAt = performance.now();
      const counts = await stage.attack(`14: ${calls} calls with 300 keys`, 'keys', { keys: [key, ...moreKeys], calls, connections: 50, seconds: 60 });
      expect(counts['calls 200']).toBeLessThanOrEqual(minutesSince(startedAt) * CALLS_A_MINUTE);
      await stage.settle();
    }));
});
