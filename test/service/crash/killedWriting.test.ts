import { describe, it } from '@jest/globals';
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
  const duringASnapshot: [string, DyingPoint][] = [
    [
      'as the next journal of a snapshot begins',
      { operation: 'open', file: 'journal', moment: 'after' },
    ],
    ['in the middle of a snapshot', { operation: 'write', file: 'snapshot', moment: 'half' }],
    [
      'when a snapshot is written and not yet published',
      { operation: 'rename', file: 'snapshot', moment: 'before' },
    ],
    [
      'right after the publication of a snapshot',
      { operation: 'rename', file: 'snapshot', moment: 'after' },
    ],
    [
      'before a journal older than the snapshots is removed',
      { operation: 'remove', file: 'journal', moment: 'before' },
    ],
    [
      'right after such a journal is removed',
      { operation: 'remove', file: 'journal', moment: 'after' },
    ],
  ];
  it.each(whileWriting)('%s loses nothing acknowledged', async (when, point) => {
    await stage.write(`before: ${when}`);
    const left = await stage.dieAt(point, (n) => stage.write(`${n}: ${when}`));
    await stage.expectNothingLost(left);
  });

  it.each(duringASnapshot)('%s loses nothing acknowledged', async (when, point) => {
    await stage.write(`before: ${when}`);
    const left = await stage.dieAt(point, async (n) => {
      await stage.write(`${n}: ${when}`);
      await stage.fillJournal();
    });
    await stage.expectNothingLost(left);
  });
});
