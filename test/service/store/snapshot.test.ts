import { readFile, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { StoreDamaged, nodeFiles } from '../../../service/src/store/lowdb/index.ts';
import type { Files, LowdbOptions } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { BreakableFiles, diskError } from './breakableFiles.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { flipMiddle } from './flipMiddle.ts';
import { listeningLog } from './listeningLog.ts';

/**
 * Makes snapshots in this thread. Another thread takes long to start, and writers that go on until
 * there is a snapshot would write a hundred times as much.
 */
const IN_THIS_THREAD = { files: { ...nodeFiles } };

describe('snapshot', () => {
  let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  afterEach(() => opened.remove());
  const open = async (options: Partial<LowdbOptions>) =>
    (opened = await openInTemporaryFolder(options));
  const names = async () => (await readdir(opened.folder)).sort();
  /**
   * The numbers of the files with such a name, in order. By name, `journal-10.log` would come before
   * `journal-9.log`.
   */
  const generations = async (name: RegExp) =>
    (await names())
      .flatMap((one) => name.exec(one)?.slice(1).map(Number) ?? [])
      .sort((a, b) => a - b);
  const snapshots = () => generations(/^snapshot-(\d+)\.ndjson$/);
  const journals = () => generations(/^journal-(\d+)\.log$/);

  /** Writers that put, change and remove things until the condition holds. */
  const writeUntil = async (store: ContractStore, holds: () => Promise<boolean>) => {
    let done = false;
    let round = 0;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      while (!done) {
        round += 1;
        const id = `${writer}-${round % 97}`;
        if (round % 5 === 0) await store.transaction((tx) => tx.things.delete(id));
        else await put(store, thing(id, { number: round, note: 'x'.repeat(200) }));
      }
    });
    try {
      await waitFor('enough to be written', holds, { timeoutMs: 60_000 });
    } finally {
      done = true;
      await Promise.all(writers);
    }
  };

  it('under concurrent writes leaves exactly what was written, and two generations of files', async () => {
    const { store } = await open({ snapshotAfterBytes: 50_000 });
    await writeUntil(store, async () => ((await snapshots()).at(-1) ?? 0) >= 3);
    const before = await all(store);
    const again = await opened.reopen();
    expect(await all(again)).toEqual(before);
    await again.close();
    const [older, newest, ...more] = await snapshots();
    expect(more).toEqual([]);
    const left = await journals();
    expect(left[0]).toBe(older);
    expect(left).toContain(newest);
  });

  it('ends even when more is added during it than one of its parts holds', async () => {
    let added = 0;
    const addMany = async () => {
      const nextId = () => `z-${String((added += 1)).padStart(9, '0')}`;
      const things = Array.from({ length: 1_000 }, () =>
        thing(nextId(), { note: 'x'.repeat(200) }),
      );
      await put(opened.store, ...things);
    };
    const files: Files = {
      ...nodeFiles,
      async open(path, flags) {
        const file = await nodeFiles.open(path, flags);
        if (!path.includes('snapshot-')) return file;
        return {
          ...file,
          write: async (bytes, position) => (await addMany(), file.write(bytes, position)),
        };
      },
    };
    await open({ snapshotAfterBytes: 200_000, files });
    await addMany();
    await waitFor('a snapshot', async () => (await snapshots()).length > 0);
    const before = await all(opened.store);
    expect(await all(await opened.reopen())).toEqual(before);
  });

  const damages: [string, (path: string, size: number) => Promise<void>][] = [
    ['empty', (path) => truncate(path, 0)],
    ['filled with NULs', (path, size) => writeFile(path, Buffer.alloc(size))],
    ['cut in the middle', (path, size) => truncate(path, Math.floor(size / 2))],
    ['without its last byte', (path, size) => truncate(path, size - 1)],
    ['changed in one byte', flipMiddle],
  ];

  it.each(damages)(
    'that is %s is passed over for the one before and its journals',
    async (_what, damage) => {
      const log = listeningLog();
      const { store } = await open({ ...IN_THIS_THREAD, snapshotAfterBytes: 20_000, log });
      await writeUntil(store, async () => (await snapshots()).length === 2);
      const before = await all(store);
      // A store at work may publish another snapshot at any time, even while it closes or right
      // after its start.
      await store.close();
      const newest = `snapshot-${(await snapshots()).at(-1)}.ndjson`;
      const path = join(opened.folder, newest);
      await damage(path, (await stat(path)).size);
      expect(await all(await opened.reopen())).toEqual(before);
      expect(log.lines.join()).toContain(`${newest} is empty or damaged; falling back`);
    },
  );

  it('that is empty and the only one is passed over for the journals', async () => {
    const log = listeningLog();
    const { store } = await open({ snapshotAfterBytes: 10_000, log });
    for (let n = 0; (await journals()).length === 1; n += 1)
      await put(store, thing(`thing-${n}`, { note: 'x'.repeat(200) }));
    await waitFor('the snapshot', async () => (await snapshots()).length > 0);
    const before = await all(store);
    await store.close();
    const [only, ...more] = await snapshots();
    expect(more).toEqual([]);
    const name = `snapshot-${only}.ndjson`;
    await truncate(join(opened.folder, name), 0);
    expect(await all(await opened.reopen())).toEqual(before);
    expect(log.lines.join()).toContain(`${name} is empty or damaged; falling back`);
  });

  it('that is damaged stops the start when the one before is damaged too', async () => {
    const { store } = await open({ ...IN_THIS_THREAD, snapshotAfterBytes: 20_000 });
    await writeUntil(store, async () => (await snapshots()).length === 2);
    await store.close();
    for (const generation of await snapshots())
      await truncate(join(opened.folder, `snapshot-${generation}.ndjson`), 10);
    const refused = opened.reopen();
    await expect(refused).rejects.toThrow(StoreDamaged);
    await expect(refused).rejects.toThrow(/snapshot-\d+\.ndjson.*backup/);
  });

  it('holds what was durable when it began, and nothing that still waits for the disk', async () => {
    const files = new BreakableFiles();
    const { store } = await open({ snapshotAfterBytes: 1, files });
    let writing: Promise<void> = Promise.resolve();
    let release = () => {};
    files.fail = (operation, path) => {
      if (operation !== 'open' || !path.includes('snapshot')) return null;
      // From here on: the snapshot's own files can be synced, the journal cannot.
      release = files.holdSyncs((held) => held.includes('journal'));
      writing = put(store, thing('waiting'));
      return null;
    };
    await put(store, thing('durable'));
    await waitFor('it is published', async () => (await snapshots()).includes(2));
    const text = await readFile(join(opened.folder, 'snapshot-2.ndjson'), 'utf8');
    release();
    await writing;
    expect(text).toContain('"durable"');
    expect(text).not.toContain('"waiting"');
  });

  it('that cannot be written leaves the store at work and every journal in place', async () => {
    const files = new BreakableFiles();
    const log = listeningLog();
    const { store } = await open({ snapshotAfterBytes: 5_000, snapshotRetryMs: 1, files, log });
    files.fail = (operation, path) =>
      operation === 'write' && path.includes('snapshot') ? diskError('ENOSPC') : null;
    const said = async () => log.lines.join().includes('no snapshot could be written: no space');
    await writeUntil(store, said);
    expect(store.fault).toBeNull();
    expect(await names()).toContain('journal-1.log');
    // The last write may have begun one more attempt; without a write there is no other.
    await waitFor(
      'nothing half written is left',
      async () => !(await names()).some((name) => name.endsWith('.tmp')),
    );
    files.fail = () => null;
    await writeUntil(store, async () => (await snapshots()).length > 0);
    const before = await all(store);
    expect(await all(await opened.reopen())).toEqual(before);
  });

  it('left half written by a killed process is removed at the next start', async () => {
    const { store, folder } = await open({});
    await store.close();
    await writeFile(join(folder, 'snapshot-2.ndjson.0b1c.tmp'), 'half');
    await opened.reopen();
    expect(await names()).toEqual(['acknowledged.json', 'journal-1.log', 'lock']);
  });
});
