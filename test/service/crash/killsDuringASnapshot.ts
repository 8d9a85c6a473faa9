import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

/**
 * Kills a service under load at points of its first two snapshots. Two files call it, so that they run
 * beside each other.
 */
export function describeKillsDuringASnapshot(points: [string, DyingPoint][]): void {
  describe('a service that is killed', () => {
    const stage = new DyingStage();

    it.each(points)('during a snapshot, %s, loses nothing acknowledged', async (_when, point) => {
      await writeFile(stage.armed, '');
      const customer = await stage.start(point);
      const acknowledged = await stage.writeUntilDead(customer, 1_000);
      expect(acknowledged.length).toBeGreaterThan(3);
      await stage.startAgain();
      await stage.expectNothingLost(customer, acknowledged);
    });
  });
}
