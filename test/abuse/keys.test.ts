// Attack 14: the many keys of one workspace. While the rate limit was counted by key alone, 300 keys
// were allowed 300 times as many calls; now a workspace has at most a hundred, which share one limit.
import { describe, expect, it } from '@jest/globals';
import { MAX_API_KEYS } from '../../service/src/team/operations/apiKeys.ts';
import { minutesSince, sized } from './size.ts';
import { onStage } from './stage.ts';

/** How many calls one workspace may make in a minute, with all its keys. */
const CALLS_A_MINUTE = 12_000;

describe('14: API calls with as many keys as a workspace may have', () => {
  it('are held to the limit of one workspace', () =>
    onStage({ hostileKeys: MAX_API_KEYS - 1 }, async (stage) => {
      const { key, moreKeys } = stage.tenants.hostile;
      const calls = sized(15_000, 40_000);
      const startedAt = performance.now();
      const counts = await stage.attack(
        `14: ${calls} calls with ${MAX_API_KEYS} keys`,
        'requests',
        {
          requests: [key, ...moreKeys].map((token) => ({
            method: 'GET',
            path: '/api/hooks/events',
            token,
          })),
          count: calls,
          connections: 50,
          seconds: 60,
        },
      );
      expect(counts['answers 200']).toBeGreaterThan(0);
      expect(counts['answers 200']).toBeLessThanOrEqual(minutesSince(startedAt) * CALLS_A_MINUTE);
      await stage.expectNoHarm();
    }));
});
