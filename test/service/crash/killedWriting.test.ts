import { writeFile } from 'node:fs/promises';
import { describe, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  const whileWriting: [string, DyingPoint][] = [
    ['before the journal write', { operation: 'write', file: 'journal', moment: 'before' }],
    ['with half a frame written', { operation: 'write', file: 'journal', moment: 'half' }],
    [
      'between the journal write and its fsync',
      { operation: 'sync', file: 'journal', moment: 'before' },
    ],
    [
      'between the fsync and the note of it',
      { operation: 'sync', file: 'journal', moment: 'after' },
    ],
    [
      'with half of that note written',
      { operation: 'write', file: 'acknowledged', moment: 'half' },
    ],
    [
      'between the note and the answer',
      { operation: 'write', file: 'acknowledged', moment: 'after' },
    ],
  ];
  it.each(whileWriting)('%s loses nothing acknowledged', async (_when, point) => {
    const customer = await stage.start(point);
    await customer.write('before');
    await waitFor('the first event', () => stage.receiver.payloads().length === 1);
    await writeFile(stage.armed, '');
    const acknowledged = await stage.writeUntilDead(customer, 100);
    await stage.startAgain();
    await stage.expectNothingLost(customer, ['before', ...acknowledged]);
  });
});
