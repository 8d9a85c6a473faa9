// How much each owner stores: kept up to date with every write, and the same after a start.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLowdbStore } from '../../../service/src/store/lowdb/index.ts';
import { collection, type Document, type Store } from '../../../service/src/store/store.ts';

interface Note extends Document {
  readonly owner?: string;
  readonly text: string;
  readonly parts?: readonly { readonly text: string }[];
}
const schema = { notes: collection<Note>({ indexes: [] }) };
const holderOf = (_collection: string, document: Document) => (document as Note).owner ?? null;

let folder: string;
let store: Store<typeof schema>;
const open = async () => {
  store = await openLowdbStore(schema, { folder, holderOf });
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usage-'));
  await open();
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});
const put = (...notes: Note[]) =>
  store.transaction(async (tx) => {
    for (const note of notes) await tx.notes.put(note);
  });
const shares = () =>
  Object.fromEntries(
    store
      .pressure!.holders()
      .map((holder) => [holder, Math.round(store.pressure!.storedShareOf(holder) * 100)]),
  );

it('follows what is added, replaced and removed, leaves out what was rolled back, and is counted again at a start', async () => {
  expect([shares(), store.pressure!.largestShare]).toEqual([{}, 0]);
  await put(
    { id: '1', owner: 'a', text: 'x'.repeat(30_000) },
    { id: '2', owner: 'b', text: '', parts: [{ text: 'x'.repeat(10_000) }] },
    { id: '3', text: 'x'.repeat(50_000) },
  );
  expect(shares()).toEqual({ a: 74, b: 26 });
  await put({ id: '2', owner: 'b', text: 'x'.repeat(90_000) });
  expect([Object.keys(shares()), shares()]).toEqual([['b', 'a'], { b: 75, a: 25 }]);
  const failing = store.transaction(async (tx) => {
    await tx.notes.put({ id: '4', owner: 'a', text: 'x'.repeat(500_000) });
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect([shares(), Math.round(store.pressure!.largestShare * 100)]).toEqual([
    { b: 75, a: 25 },
    75,
  ]);

  await store.close();
  await open();
  expect(shares()).toEqual({ b: 75, a: 25 });
  await store.transaction((tx) => tx.notes.delete('2'));
  expect([shares(), store.pressure!.largestShare]).toEqual([{ a: 100 }, 1]);
  await store.transaction((tx) => tx.notes.delete('1'));
  expect([shares(), store.pressure!.largestShare]).toEqual([{}, 0]);
});
