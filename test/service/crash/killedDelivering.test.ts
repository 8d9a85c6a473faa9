// For a kill in the middle of the POST, see test/service/deliveries/killed.test.ts.
import { describe, expect, it } from '@jest/globals';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

describe('a service that is killed', () => {
  const stage = new DyingStage();

  const afterTheAnswer: [string, Pick<DyingPoint, 'operation' | 'moment'>, number][] = [
    ['before any of its record is written', { operation: 'write', moment: 'before' }, 2],
    ['before the record is flushed to the disk', { operation: 'sync', moment: 'before' }, 1],
    ['right after the record is flushed', { operation: 'sync', moment: 'after' }, 1],
  ];
  it.each(afterTheAnswer)(
    'between the 2xx and its record, %s, repeats the delivery with the same id or not at all',
    async (when, point, attempts) => {
      const answered = `answered, ${when}`;
      const left = await stage.dieAt(
        { ...point, file: 'journal', text: '"status":"delivered"' },
        (n) => (n === 1 ? stage.write(answered) : Promise.resolve()),
      );
      const sent = await stage.expectNothingLost(left, [`after ${when}`]);
      // What reached the page cache survives the death of a process, so that record counts.
      expect(sent.filter((text) => text === answered)).toHaveLength(attempts);
    },
  );
});
