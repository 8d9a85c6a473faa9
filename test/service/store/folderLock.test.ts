import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { nodeFiles } from '../../../service/src/platform/files.ts';
import { makeFolder } from '../../../service/src/store/lowdb/journal/folder.ts';
import { FolderInUse, openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { contractSchema } from '../../contract/schema.ts';

const child = fileURLToPath(new URL('./openAndHold.child.ts', import.meta.url));

describe('folder lock', () => {
  it('refuses a second store of the same process, and lets it in after the first is closed', async () => {
    const { folder, store, remove } = await openInTemporaryFolder();
    const refused = openLowdbStore(contractSchema, { folder });
    await expect(refused).rejects.toThrow(FolderInUse);
    await expect(refused).rejects.toThrow(
      `The data folder ${folder} is in use by process ${process.pid}`,
    );
    await store.close();
    await (await openLowdbStore(contractSchema, { folder })).close();
    await remove();
  });

  it('refuses a second process, names the pid of the first, and lets the second in right after kill -9', async () => {
    const { folder, store, remove } = await openInTemporaryFolder();
    await store.close();
    const holder = spawn(process.execPath, [child, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    await expect(openLowdbStore(contractSchema, { folder })).rejects.toMatchObject({
      name: 'FolderInUse',
      pid: holder.pid,
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await (await openLowdbStore(contractSchema, { folder })).close();
    await remove();
  });
});

it('a data folder that is made with those above it survives a loss of power', async () => {
  const { folder, store, remove } = await openInTemporaryFolder();
  await store.close();
  const synced: string[] = [];
  const syncFolder = async (path: string) => {
    if (synced.push(path) > 9) throw new Error('it never ends');
  };
  await makeFolder(join(folder, 'a', 'b'), { ...nodeFiles, syncFolder });
  expect(synced.splice(0)).toEqual([join(folder, 'a'), folder]);
  await makeFolder(`${folder}/a/b/missing/../../c`, { ...nodeFiles, syncFolder });
  expect(synced).toEqual([join(folder, 'a')]);
  await remove();
});
