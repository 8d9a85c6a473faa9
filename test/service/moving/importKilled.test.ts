import { cpSync, createReadStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { headerOf, ExportReader, writeExport } from '../../../service/src/moving/exportFormat.ts';
import { makeNewFile } from '../../../service/src/moving/newFile.ts';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import {
  all,
  contractSchema,
  enqueue,
  job,
  put,
  thing,
  type ContractStore,
} from '../../contract/schema.ts';
import { filesInSteps } from '../../helpers/filesInSteps.ts';
import { BreakableFiles, diskError } from '../store/breakableFiles.ts';

const THINGS = 900;

describe('an import into a data folder', () => {
  let folder: string;
  /** So large that it is written in several pieces. */
  let file: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'conversation-service-'));
    file = join(folder, 'export.ndjson');
    const from = await openInTemporaryFolder();
    await put(
      from.store,
      ...Array.from({ length: THINGS }, (_, n) =>
        thing(`t${n}`, { code: `c${n}`, note: 'x'.repeat(500) }),
      ),
    );
    await enqueue(from.store, job('j', { runAt: 0, rank: 1 }));
    await makeNewFile(
      file,
      async (write) =>
        (await writeExport(from.store.dump(), headerOf(new Date(), null), write)) !== null,
    );
    await from.remove();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Asserts that the store holds the whole import or nothing. @returns which of the two */
  const stored = async (store: ContractStore): Promise<'everything' | 'nothing'> => {
    let records = 0;
    for await (const _ of store.dump()) records += 1;
    if (records === 0) return 'nothing';
    expect(records).toBe(THINGS + 1);
    expect(await all(store)).toHaveLength(THINGS);
    expect(
      await store.claim({ queue: 'q', limit: 9, freeSlots: () => 9, leaseMs: 1 }),
    ).toHaveLength(1);
    return 'everything';
  };
  const importInto = async (store: ContractStore) =>
    store.restore((await ExportReader.open(createReadStream(file))).records());

  /**
   * Imports into a new folder. A process that is killed leaves the folder as it is at that moment.
   * @returns a copy of the folder before each step on the disk, and one at the end
   */
  const importInSteps = async (): Promise<string[]> => {
    const into = join(folder, 'in-steps');
    const states: string[] = [];
    const keepState = () => {
      const state = join(folder, `killed-${states.length}`);
      if (existsSync(into))
        cpSync(into, state, { recursive: true, filter: (path) => !path.endsWith('/lock') });
      states.push(state);
    };
    const files = filesInSteps(keepState);
    const store = await openLowdbStore(contractSchema, { folder: into, files });
    await importInto(store);
    await store.close();
    keepState();
    return states;
  };

  // test/service/moving/commands.test.ts kills a real process.
  it('that is killed at any moment leaves everything or nothing, and can be repeated', async () => {
    const found: string[] = [];
    for (const state of await importInSteps()) {
      const store = await openLowdbStore(contractSchema, { folder: state });
      const what = await stored(store);
      if (what === 'nothing') {
        await importInto(store);
        expect(await stored(store)).toBe('everything');
      }
      await store.close();
      found.push(what);
    }
    expect(found.filter((what) => what === 'nothing').length).toBeGreaterThan(10);
    expect(found.lastIndexOf('nothing')).toBeLessThan(found.indexOf('everything'));
    // Some kills come after the snapshot has its final name, while the import is still tidying up.
    expect(found.filter((what) => what === 'everything').length).toBeGreaterThan(2);
  });

  it.each(['open', 'write', 'sync', 'rename'] as const)(
    'on a disk that fails at %s leaves nothing, says so, and can be repeated',
    async (failing) => {
      const files = new BreakableFiles();
      const into = await openInTemporaryFolder({ files, retryMs: 20 });
      files.fail = (operation, path) =>
        operation === failing && path.includes('snapshot') ? diskError('ENOSPC') : null;
      await expect(importInto(into.store)).rejects.toThrow(
        'the data folder cannot be written: no space is left on the disk (ENOSPC)',
      );
      expect(await stored(into.store)).toBe('nothing');
      expect(into.store.fault).toBeNull();
      files.fail = () => null;
      const again = await into.reopen();
      expect(await stored(again)).toBe('nothing');
      await importInto(again);
      expect(await stored(await into.reopen())).toBe('everything');
      await into.remove();
    },
  );

  it('on a disk that fails before it begins is refused, and succeeds once the disk works again', async () => {
    const files = new BreakableFiles();
    const into = await openInTemporaryFolder({ files, retryMs: 20 });
    files.fail = (operation, path) =>
      operation === 'open' && path.includes('journal-2') ? diskError('EIO') : null;
    await expect(importInto(into.store)).rejects.toThrow(StoreUnavailable);
    files.fail = () => null;
    const again = await into.reopen();
    expect(await stored(again)).toBe('nothing');
    await importInto(again);
    expect(await stored(again)).toBe('everything');
    await into.remove();
  });

  it('lets nobody else write before it ends, and leaves a store that works like any other', async () => {
    const into = await openInTemporaryFolder({ snapshotAfterBytes: 1 });
    const reader = await ExportReader.open(createReadStream(file));
    const importing = into.store.restore(reader.records());
    const lateWrite = put(into.store, thing('late', { code: 'c0' })).catch(
      (error: Error) => error.name,
    );
    await importing;
    expect(await lateWrite).toBe('UniqueViolation');
    await put(into.store, thing('more'));
    await into.store.forgetHistory();
    await put(into.store, thing('most'));
    const again = await into.reopen();
    expect(await all(again)).toHaveLength(THINGS + 2);
    await into.remove();
  });

  it('makes files that only their owner can read', async () => {
    const into = await openInTemporaryFolder();
    await importInto(into.store);
    expect((await stat(join(into.folder, 'snapshot-2.ndjson'))).mode & 0o777).toBe(0o600);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // The export is whole: its last line counts the job.
    expect(await readFile(file, 'utf8')).toContain('"jobs":1');
    await into.remove();
  });
});
