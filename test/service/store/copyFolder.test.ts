// A copy of a data folder that is taken while the store writes, and while snapshots replace its files.
import { mkdir, mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CollectionDefinition } from '../../../service/src/store/store.ts';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  copyDataFolder,
  fillDataFolder,
  nodeFiles,
  openLowdbStore,
} from '../../../service/src/store/lowdb/index.ts';
import {
  journalName,
  listFolder,
  snapshotName,
} from '../../../service/src/store/lowdb/journal/folder.ts';

const schema = { notes: { indexes: [{ on: [] }] } as CollectionDefinition<Note> };
interface Note {
  readonly id: string;
  readonly text: string;
}

const WRITERS = 8;

describe('copyDataFolder', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'conversation-copy-'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** An empty folder. */
  const makeFolder = async (name: string) => {
    const folder = join(root, name);
    await mkdir(folder);
    return folder;
  };

  it('is the store at one moment: all that was acknowledged before, then a beginning', async () => {
    const folder = join(root, 'data');
    // Makes snapshots in this thread, which is faster than starting another.
    const files = { ...nodeFiles };
    const store = await openLowdbStore(schema, { folder, files, snapshotAfterBytes: 4_000 });
    const acknowledged = Array.from({ length: WRITERS }, () => 0);
    let isStopping = false;
    const writing = acknowledged.map(async (_, writer) => {
      for (let number = 1; !isStopping; number += 1) {
        const id = `${writer}-${String(number).padStart(6, '0')}`;
        await store.transaction((tx) => tx.notes.put({ id, text: 'x'.repeat(100) }));
        acknowledged[writer] = number;
        await nextTurn();
      }
    });
    const taken: { copy: string; before: number[] }[] = [];
    const generation = async () => (await listFolder(folder)).snapshots[0] ?? 1;
    for (let round = 0; round < 10 || (await generation()) < 5; round += 1) {
      const copy = await makeFolder(`copy-${round}`);
      const before = [...acknowledged];
      const names = await copyDataFolder(folder, copy);
      expect(names).toContain('acknowledged.json');
      taken.push({ copy, before });
    }
    isStopping = true;
    await Promise.all(writing);
    await store.close();
    for (const { copy, before } of taken) {
      const opened = await openLowdbStore(schema, { folder: copy });
      const found = Array.from({ length: WRITERS }, () => 0);
      const numbers: number[][] = found.map(() => []);
      for await (const record of opened.dump()) {
        const [writer, number] = ('job' in record ? '' : record.document.id).split('-').map(Number);
        numbers[writer!]!.push(number!);
      }
      await opened.close();
      numbers.forEach((each, writer) => {
        each.sort((a, b) => a - b);
        // No gap, and nothing that was acknowledged is missing.
        expect(each).toEqual(each.map((_, index) => index + 1));
        expect(each.length).toBeGreaterThanOrEqual(before[writer]!);
      });
    }
  }, 60_000);

  it('falls back to the snapshot before when the newest one is damaged', async () => {
    const folder = join(root, 'data');
    const copy = await makeFolder('copy');
    const store = await openLowdbStore(schema, { folder, files: { ...nodeFiles } });
    await store.transaction((tx) => tx.notes.put({ id: 'a', text: 'before' }));
    await store.forgetHistory(); // leaves two snapshots
    await store.transaction((tx) => tx.notes.put({ id: 'b', text: 'after' }));
    const [newest, earlier] = (await listFolder(folder)).snapshots as [number, number];
    await truncate(join(folder, snapshotName(newest)), 10);
    const said: string[] = [];
    const names = await copyDataFolder(folder, copy, (words) => said.push(words));
    expect(said).toEqual([expect.stringContaining(snapshotName(newest))]);
    await store.close();
    await rm(join(folder, snapshotName(earlier)));
    await rm(join(folder, journalName(earlier)));
    await expect(copyDataFolder(folder, root)).rejects.toThrow(/there is none to fall back to/);
    expect(names).toContain(snapshotName(earlier));
    expect((await readdir(copy)).sort()).toEqual([...names].sort());
    const opened = await openLowdbStore(schema, { folder: copy });
    const found = await opened.transaction((tx) => tx.notes.find({ where: {}, limit: 9 }));
    expect(found.map(({ id }) => id)).toEqual(['a', 'b']);
    await opened.close();
  });

  it('copies nothing from an empty folder, and a restored copy opens with all of it', async () => {
    const folder = await makeFolder('data');
    const copy = await makeFolder('copy');
    const next = join(root, 'next');
    expect(await copyDataFolder(folder, copy)).toEqual([]);
    const store = await openLowdbStore(schema, { folder: folder });
    await store.transaction((tx) => tx.notes.put({ id: 'a', text: 'b' }));
    const names = await copyDataFolder(folder, copy);
    await store.close();
    const files = new Map(names.map((name) => [name, join(copy, name)]));
    await fillDataFolder(next, files);
    await expect(fillDataFolder(next, files)).rejects.toThrow(/is not empty/);
    const opened = await openLowdbStore(schema, { folder: next });
    expect(await opened.transaction((tx) => tx.notes.get('a'))).toMatchObject({ text: 'b' });
    await opened.close();
  });
});
