import { stat } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { LowdbOptions } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { put, thing, type ContractStore } from '../../contract/schema.ts';
import { eachFile } from '../../helpers/folderFiles.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles, diskError } from './breakableFiles.ts';

describe('what the store says about its files', () => {
  let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  afterEach(() => opened.remove());
  const open = async (options: Partial<LowdbOptions>) =>
    (opened = await openInTemporaryFolder(options)).store;
  const filesOf = async (store: ContractStore) => (await store.stats()).files!;
  const sizeOf = async (name: RegExp) => {
    const sizes = await eachFile(opened.folder, async (path, each) =>
      name.test(each) ? (await stat(path)).size : 0,
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };

  it('is their size on disk: journal and snapshot, before and after a restart', async () => {
    let store = await open({ snapshotAfterBytes: 20_000 });
    const empty = { journalBytes: 0, snapshotBytes: 0, snapshotAt: null };
    expect(await filesOf(store)).toEqual(empty);
    await put(store, thing('a'));
    expect((await filesOf(store)).journalBytes).toBe(await sizeOf(/^journal/));

    await put(store, thing('b', { note: 'x'.repeat(30_000) }));
    const written = await waitFor('the snapshot', async () => {
      const files = await filesOf(store);
      return files.snapshotAt !== null && files;
    });
    expect(written.snapshotBytes).toBe(await sizeOf(/^snapshot/));
    expect(Math.abs(Date.now() - written.snapshotAt!)).toBeLessThan(60_000);
    expect(written.journalBytes).toBe(0);
    await put(store, thing('c'));
    const sinceSnapshot = (await filesOf(store)).journalBytes;
    expect(sinceSnapshot).toBe(await sizeOf(/^journal-2/));

    store = await opened.reopen();
    const again = await filesOf(store);
    expect(again).toMatchObject({
      journalBytes: sinceSnapshot,
      snapshotBytes: written.snapshotBytes,
    });
    expect(Math.abs(again.snapshotAt! - written.snapshotAt!)).toBeLessThan(60_000);
  });

  it('is available while nothing can be written, with the queues as they were', async () => {
    const files = new BreakableFiles();
    const store = await open({ files, retryMs: 10 });
    await store.transaction((tx) =>
      tx.jobs.enqueue({ id: 'a', queue: 'q', group: 'g', runAt: 0, rank: 0, data: {} }),
    );
    files.fail = (operation) => (operation === 'write' ? diskError('ENOSPC') : null);
    await expect(put(store, thing('never'))).rejects.toThrow();
    expect((await store.stats()).queues).toMatchObject({ q: { waiting: 1, claimed: 0 } });
    files.fail = () => null;
  });
});
