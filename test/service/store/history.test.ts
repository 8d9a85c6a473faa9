import { afterEach, expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { textOfFolder } from '../../helpers/folderFiles.ts';
import { BreakableFiles, diskError } from './breakableFiles.ts';

let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
afterEach(() => opened.remove());

const contents = () => textOfFolder(opened.folder);

it('forgetHistory leaves no earlier version of a document in any file, journals and older snapshots included', async () => {
  // Snapshots all the time, so that there is one to fall back to.
  opened = await openInTemporaryFolder({ snapshotAfterBytes: 500 });
  const { store } = opened;
  for (let n = 0; n < 20; n++) await put(store, thing('a', { note: `former note ${n}` }));
  await put(store, thing('gone', { note: 'former and removed' }));
  await store.transaction((tx) => tx.things.delete('gone'));
  await put(store, thing('a', { note: 'present note' }));
  expect(await contents()).toContain('former');
  await store.forgetHistory();
  expect(await contents()).not.toContain('former');
  expect(await contents()).toContain('present note');
  expect(await all(await opened.reopen())).toEqual([thing('a', { note: 'present note' })]);
});

it('forgetHistory fails while no snapshot can be written, and works afterwards', async () => {
  const files = new BreakableFiles();
  opened = await openInTemporaryFolder({ files });
  await put(opened.store, thing('a', { note: 'former' }));
  await put(opened.store, thing('a', { note: 'present' }));
  files.fail = (operation, path) =>
    operation === 'write' && path.includes('snapshot') ? diskError('ENOSPC') : null;
  await expect(opened.store.forgetHistory()).rejects.toThrow('ENOSPC');
  files.fail = () => null;
  await put(opened.store, thing('b'));
  await opened.store.forgetHistory();
  expect(await contents()).not.toContain('former');
  expect(await all(await opened.reopen())).toHaveLength(2);
});
