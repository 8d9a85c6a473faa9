import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  const duringASnapshot: [string, DyingPoint][] = [
    ['as the next journal begins', { operation: 'sync', file: 'journal-2', moment: 'before' }],
    ['in the middle of it', { operation: 'write', file: 'snapshot-2', moment: 'half' }],
    ['when it is written and not yet published', { operation: 'rename', file: 'snapshot-2', moment: 'before' }],
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
