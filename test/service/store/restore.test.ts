// After an import, a data folder holds nothing of the emptied store that was there before.
import { copyFile, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DumpedRecord } from '../../../service/src/store/store.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, contractSchema, put, thing } from '../../contract/schema.ts';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';

const IMPORTED = [thing('a', { number: 1 }), thing('b', { number: 2 })];
const JOB = { id: 'j', queue: 'q', group: 'g', runAt: 0, rank: 0, data: {} };

async function* records(): AsyncGenerator<DumpedRecord> {
  for (const document of IMPORTED) yield { collection: 'things', document };
  yield { job: JOB };
}

describe('an import into a data folder that was emptied before', () => {
  let into: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  beforeEach(async () => {
    into = await openInTemporaryFolder();
    // Writes and removes the ids that the import brings: a replay of this journal would remove them.
    await put(into.store, ...IMPORTED);
    await into.store.transaction((tx) => tx.jobs.enqueue(JOB));
    await into.store.transaction(async (tx) => {
      for (const { id } of IMPORTED) await tx.things.delete(id);
      await tx.jobs.complete(JOB.id);
    });
  });
  afterEach(() => into.remove());

  const files = async () =>
    (await readdir(into.folder)).filter((name) => /^(journal|snapshot)-/.test(name)).sort();

  it('leaves no earlier journal: a damaged snapshot is refused, not passed over for an empty store', async () => {
    const [journal] = await files();
    await into.store.restore(records());
    await into.store.close();
    expect(await files()).not.toContain(journal);
    const [snapshot] = (await files()).filter((name) => name.startsWith('snapshot'));
    const path = join(into.folder, snapshot!);
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, whole.length - 20));
    await expect(openLowdbStore(contractSchema, { folder: into.folder })).rejects.toThrow(snapshot);
    await writeFile(path, whole);
    expect(await all(await into.reopen())).toEqual(IMPORTED);
  });

  it('replays no earlier journal over the imported records, though its removal did not reach the disk', async () => {
    const [journal] = await files();
    const [there, aside] = [join(into.folder, journal!), join(into.folder, 'aside')];
    await copyFile(there, aside);
    await into.store.restore(records());
    await into.store.close();
    await copyFile(aside, there);
    const again = await into.reopen();
    expect(await all(again)).toEqual(IMPORTED);
    const claimed = await again.claim({ queue: 'q', limit: 9, freeSlots: () => 9, leaseMs: 1 });
    expect(claimed).toHaveLength(1);
    await put(again, thing('c'));
    expect(await all(await into.reopen())).toHaveLength(3);
  });
});
