import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  const duringASnapshot: [string, DyingPoint][] = [
    ['right after its publication', { operation: 'rename', file: 'snapshot-2', moment: 'after' }],
    ['before the old files are removed', { operation: 'remove', file: 'journal-1', moment: 'before' }],
    ['in the middle of removing the old files', { operation: 'remove', file: 'journal-1', moment: 'after' }],
  ];
  it.each(duringASnapshot)('during a snapshot, %s, loses nothing acknowledged', async (_when, point) => {
    await writeFile(stage.armed, '');
    const customer = await stage.start(point);
    const acknowledged = await stage.writeUntilDead(customer, 3_000);
    expect(acknowledged.length).toBeGreaterThan(3);
    await stage.startAgain();
    await stage.expectNothingLost(customer, acknowledged);
  });
});
