import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../helpers/waitFor.ts';
import { DyingStage, NEVER } from './dyingStage.ts';

describe('a service that was killed and whose newest snapshot is', () => {
  const stage = new DyingStage();
  const data = () => join(dirname(stage.service.logFile), 'data');
  const snapshots = async () =>
    (await readdir(data()))
      .flatMap((name) => /^snapshot-(\d+)\.ndjson$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);

  const isWritingSnapshot = async () =>
    (await readdir(data())).some((name) => name.endsWith('.tmp'));

  it.each([
    ['empty, the only one', () => Buffer.alloc(0), 1],
    ['filled with NULs, with one before it', (size: number) => Buffer.alloc(size), 2],
  ])('%s, falls back, says so, and has all that it acknowledged', async (_what, damaged, count) => {
    const customer = await stage.start(NEVER);
    const acknowledged: string[] = [];
    const write = async (text: string) => {
      await customer.write(text);
      acknowledged.push(text);
    };
    for (let n = 0; n < 100 && (await snapshots()).length < count; n += 1) {
      await write(`${n} ${'x'.repeat(3_000)}`);
      await waitFor('no snapshot under way', async () => !(await isWritingSnapshot()));
    }
    await write('behind the snapshot');
    process.kill(stage.service.pid, 'SIGKILL');
    await stage.untilDead();
    const kept = await snapshots();
    expect(kept).toHaveLength(count);
    const newest = join(data(), `snapshot-${kept.at(-1)}.ndjson`);
    await writeFile(newest, damaged((await stat(newest)).size));
    await stage.startAgain();
    expect(await readFile(stage.service.logFile, 'utf8')).toContain(
      `snapshot-${kept.at(-1)}.ndjson is empty or damaged; falling back to the one before and its journals`,
    );
    await write('after');
    await stage.expectNothingLost(customer, acknowledged);
  });
});
