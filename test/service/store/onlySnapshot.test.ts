import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { listeningLog } from './listeningLog.ts';

it('the only snapshot, when it is empty, is passed over for the journals', async () => {
  const log = listeningLog();
  const { folder, store, reopen, remove } = await openInTemporaryFolder({
    snapshotAfterBytes: 10_000,
    log,
  });
  const names = async (pattern: RegExp) =>
    (await readdir(folder)).filter((name) => pattern.test(name));
  const snapshots = () => names(/^snapshot-\d+\.ndjson$/);
  for (let n = 0; (await names(/^journal-/)).length === 1; n += 1)
    await put(store, thing(`thing-${n}`, { note: 'x'.repeat(200) }));
  await waitFor('the snapshot', async () => (await snapshots()).length > 0);
  const before = await all(store);
  await store.close();
  const [only, ...more] = await snapshots();
  expect(more).toEqual([]);
  await truncate(join(folder, only!), 0);
  expect(await all(await reopen())).toEqual(before);
  expect(log.lines.join()).toContain(`${only} is empty or damaged; falling back`);
  await remove();
});
