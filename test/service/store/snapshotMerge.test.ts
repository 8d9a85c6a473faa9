import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { mergeInWorker } from '../../../service/src/store/lowdb/mergeInWorker.ts';
import type { LowdbOptions } from '../../../service/src/store/lowdb/index.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import type { Thing } from '../../contract/schema.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles } from './breakableFiles.ts';
import { listeningLog } from './listeningLog.ts';

let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
afterEach(() => opened.remove());
const open = async (options: Partial<LowdbOptions> = {}) => (opened = await openInTemporaryFolder(options));
const path = (name: string) => join(opened.folder, name);
const names = async () => (await readdir(opened.folder)).sort();

const flipMiddle = async (name: string) => {
  const bytes = await readFile(path(name));
  bytes[Math.floor(bytes.length / 2)]! ^= 0x01;
  await writeFile(path(name), bytes);
};

/** In a thread of its own, as in production; and in this one, as for tests that put failing files in their place. */
describe.each([
  ['in a thread of its own', () => ({})],
  ['in the same thread', () => ({ files: new BreakableFiles() })],
])('a snapshot made from files %s', (_where, options) => {
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
    expect(await again.claim({ queue: 'q', limit: 9, freeSlots: () => 9, leaseMs: 1 })).toHaveLength(1);
  });

  it('knows documents whatever they are called, and wherever their text says so', async () => {
    const { store } = await open(options());
    const ids = ['"quoted"', 'back\\slash', 'ünïcode', 'new\nline', '12', 'two words', '__proto__x', 'x'.repeat(300), '","id":"t'];
    const idLast = (id: string, note: string): Thing => {
      const { id: _, ...rest } = thing(id, { note });
      return { ...rest, id };
    };
    for (const note of ['first', 'second', 'third']) {
      await put(store, ...ids.map((id) => thing(id, { note })), ...ids.map((id) => idLast(`last ${id}`, note)));
      await store.forgetHistory();
    }
    await put(store, thing('behind'));
    await store.forgetHistory();
    const text = (await Promise.all((await names()).map((name) => readFile(path(name), 'utf8')))).join('');
    expect(text).not.toMatch(/"(first|second)"/);
    const kept = await all(await opened.reopen());
    expect(kept.map(({ id }) => id).sort()).toEqual([...ids, ...ids.map((id) => `last ${id}`), 'behind'].sort());
  });

  it('passes over a snapshot that was damaged meanwhile for the one before, and says so', async () => {
    const log = listeningLog();
    const { store } = await open({ ...options(), log });
    for (const id of ['a', 'b', 'c']) {
      await put(store, thing(id));
      await store.forgetHistory();
    }
    const [older, newest] = (await names()).filter((name) => name.startsWith('snapshot-'));
    await flipMiddle(newest!);
    await put(store, thing('d'));
    await store.forgetHistory();
    expect(log.lines).toEqual([`${newest} is empty or damaged; falling back to the one before and its journals`]);
    expect(await names()).not.toContain(older);
    expect((await all(await opened.reopen())).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  });
});
