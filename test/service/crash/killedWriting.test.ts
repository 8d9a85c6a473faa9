import { describe, it } from '@jest/globals';
import type { DyingPoint } from './dyingFiles.ts';
import { DyingStage } from './dyingStage.ts';

type Row = [when: string, DyingPoint['operation'], file: string, DyingPoint['moment']];

describe('a service that is killed', () => {
  const stage = new DyingStage();

  it.each<Row>([
    ['before the journal write', 'write', 'journal', 'before'],
    ['with half a frame written', 'write', 'journal', 'half'],
    ['between the journal write and its fsync', 'sync', 'journal', 'before'],
    ['between the fsync and the note of it', 'sync', 'journal', 'after'],
    ['with half of that note written', 'write', 'acknowledged', 'half'],
    ['between the note and the answer', 'write', 'acknowledged', 'after'],
  ])('%s loses nothing acknowledged', async (when, operation, file, moment) => {
    await stage.write(`before: ${when}`);
    const write = (n: number) => stage.write(`${n}: ${when}`);
    await stage.expectNothingLost(await stage.dieAt({ operation, file, moment }, write));
  });

  it.each<Row>([
    ['when a snapshot has opened the next journal', 'open', 'journal', 'after'],
    ['in the middle of a snapshot', 'write', 'snapshot', 'half'],
    ['when a snapshot is written and not yet published', 'rename', 'snapshot', 'before'],
    ['right after the publication of a snapshot', 'rename', 'snapshot', 'after'],
    ['before a journal older than the snapshots is removed', 'remove', 'journal', 'before'],
    ['right after such a journal is removed', 'remove', 'journal', 'after'],
  ])('%s loses nothing acknowledged', async (when, operation, file, moment) => {
    await stage.write(`before: ${when}`);
    const write = async (n: number) => {
      await stage.write(`${n}: ${when}`);
      await stage.fillJournal();
    };
    await stage.expectNothingLost(await stage.dieAt({ operation, file, moment }, write));
  });
});
