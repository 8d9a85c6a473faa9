import { readFile, readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { mergeInWorker } from '../../../service/src/store/lowdb/snapshots/snapshotMerge.ts';
import type { LowdbOptions } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, put, thing, type ContractStore, type Thing } from '../../contract/schema.ts';
import { textOfFolder } from '../../helpers/folderFiles.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles } from './breakableFiles.ts';
import { flipMiddle } from './flipMiddle.ts';
import { listeningLog } from './listeningLog.ts';

let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
afterEach(() => opened.remove());
const open = async (options: Partial<LowdbOptions> = {}) =>
  (opened = await openInTemporaryFolder(options));
const path = (name: string) => join(opened.folder, name);
const names = async () => (await readdir(opened.folder)).sort();

/** Where a snapshot is made: in production in a thread of its own, in tests also in the same. */
const WHERE = [
  ['in a thread of its own', () => ({})],
  ['in the same thread', () => ({ files: new BreakableFiles() })],
] as const;

describe('a snapshot made from files', () => {
  const options = () => ({ files: new BreakableFiles() });
  const cutOff = async (file: string) => truncate(file, (await readFile(file)).indexOf('\n') + 1);
  const claim = (store: ContractStore) =>
    store.claim({ queue: 'q', limit: 9, freeSlots: () => 9, leaseMs: 1 });

  it('holds each document as it was written last, and none that was removed', async () => {
    const { store } = await open(options());
    await put(store, ...Array.from({ length: 50 }, (_, n) => thing(`t-${n}`, { number: n })));
    await store.forgetHistory();
    await put(store, thing('t-7', { note: 'changed' }), thing('new'));
    await put(store, thing('t-7', { note: 'changed again' }), thing('new', { note: 'changed' }));
    await store.transaction(async (tx) => {
      for (const id of ['t-8', 't-9']) await tx.things.delete(id);
      await tx.others.put({ id: 't-8' });
      await tx.jobs.enqueue({ id: 'job', queue: 'q', group: 'g', runAt: 0, rank: 0, data: {} });
    });
    await put(store, thing('t-9', { note: 'there again' }), thing('short-lived'));
    await store.transaction((tx) => tx.things.delete('short-lived'));
    const before = await all(store);
    expect(before.map(({ id }) => id)).toEqual(expect.arrayContaining(['new', 't-9']));
    await store.forgetHistory();
    const again = await opened.reopen();
    expect(await all(again)).toEqual(before);
    expect(await again.transaction((tx) => tx.others.get('t-8'))).toEqual({ id: 't-8' });
    expect(await claim(again)).toHaveLength(1);
  });

  it('knows documents by any id, wherever the id stands in their text', async () => {
    const { store } = await open(options());
    const ids = [
      '"quoted"',
      'back\\slash',
      'ünïcode',
      'new\nline',
      '12',
      'two words',
      '__proto__x',
      'x'.repeat(300),
      '","id":"t',
    ];
    const idLast = (id: string, note: string): Thing => {
      const { id: _, ...rest } = thing(id, { note });
      return { ...rest, id };
    };
    for (const note of ['first', 'second']) {
      await put(store, ...ids.map((id) => thing(id, { note })));
      await put(store, ...ids.map((id) => idLast(`last ${id}`, note)));
      await store.forgetHistory();
    }
    await put(store, thing('behind'));
    await store.forgetHistory();
    expect(await textOfFolder(opened.folder)).not.toMatch('"first"');
    const kept = await all(await opened.reopen());
    expect(kept.map(({ id }) => id).sort()).toEqual(
      [...ids, ...ids.map((id) => `last ${id}`), 'behind'].sort(),
    );
  });

  it.each(WHERE)(
    '%s falls back to the previous snapshot when the newest one was damaged, and says so',
    async (_where, options) => {
      const log = listeningLog();
      const { store } = await open({ ...options(), log });
      for (const id of ['a', 'b']) {
        await put(store, thing(id));
        await store.forgetHistory();
      }
      const [older, newest] = (await names()).filter((name) => name.startsWith('snapshot-'));
      await flipMiddle(path(newest!));
      await put(store, thing('c'));
      await store.forgetHistory();
      expect(log.lines).toEqual([
        `${newest} is empty or damaged; falling back to the one before and its journals`,
      ]);
      expect(await names()).not.toContain(older);
      expect((await all(await opened.reopen())).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    },
  );

  it.each([
    ...WHERE.map(
      ([where, options]) => [`changed in one byte, ${where}`, flipMiddle, options] as const,
    ),
    ['cut off between two frames', cutOff, options],
    ['removed', rm, options],
  ] as const)(
    'is made from memory when a journal was %s, and the log says so',
    async (_what, damage, options) => {
      const log = listeningLog();
      const { store } = await open({ ...options(), log, snapshotAfterBytes: 2_000 });
      await put(store, thing('a'));
      await put(store, thing('b'));
      await store.transaction((tx) =>
        tx.jobs.enqueue({ id: 'job', queue: 'q', group: 'g', runAt: 0, rank: 0, data: { n: 1 } }),
      );
      await damage(path('journal-1.log'));
      await put(store, thing('c', { note: 'x'.repeat(3_000) }));
      await waitFor('the snapshot', async () => (await store.stats()).files!.snapshotAt);
      expect(log.lines).toEqual([
        expect.stringMatching(/^journal-1\.log was damaged at byte \d+ while the store was open/),
      ]);
      await put(store, thing('d'));
      const again = await opened.reopen();
      expect((await all(again)).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
      expect(await claim(again)).toMatchObject([{ id: 'job', data: { n: 1 } }]);
      await again.forgetHistory();
      expect(await names()).not.toContain('journal-1.log');
    },
  );

  it.each(WHERE)(
    '%s is given up when the store closes, and nothing of it is left',
    async (_where, options) => {
      const { store } = await open(options());
      // More than can be read in the time that giving up takes.
      for (let n = 0; n < 8; n += 1)
        await put(store, thing(`t-${n}`, { note: 'x'.repeat(1 << 20) }));
      const forgetting = store.forgetHistory();
      forgetting.catch(() => {});
      await waitFor('the next journal', async () => (await names()).includes('journal-2.log'));
      await store.close();
      await expect(forgetting).rejects.toThrow(/given up|aborted/);
      expect(await names()).toEqual([
        'acknowledged.json',
        'journal-1.log',
        'journal-2.log',
        'lock',
      ]);
      expect(await all(await opened.reopen())).toHaveLength(8);
    },
  );
});

it('a snapshot made in a thread of its own fails with a clear error when that thread fails', async () => {
  await open();
  const order = {
    folder: opened.folder,
    header: { generation: 1, nextSequence: 2 },
    target: path('missing/target'),
  };
  const { signal } = new AbortController();
  await expect(mergeInWorker(order, signal)).rejects.toMatchObject({
    name: 'StoreDamaged',
    file: 'journal-1.log',
  });
  await expect(
    mergeInWorker({ ...order, header: { generation: 1, nextSequence: 1 } }, signal),
  ).rejects.toMatchObject({ code: 'ENOENT' });
});

it('a snapshot thread that fails while it is given up does not end the process', async () => {
  await open();
  const givingUp = new AbortController();
  const merging = mergeInWorker(
    { folder: path('missing'), header: { generation: 1, nextSequence: 2 }, target: path('target') },
    givingUp.signal,
  );
  // The thread fails while this one cannot hear of it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  givingUp.abort();
  await expect(merging).rejects.toThrow(/aborted/);
});
