import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { ChangeFeed } from '../../../service/src/store/changeFeed.ts';
import { put, thing } from '../../contract/schema.ts';
import { letGo } from '../../helpers/letGo.ts';

describe('change feed of limited length', () => {
  let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  beforeEach(async () => {
    opened = await openInTemporaryFolder({ keptChanges: 5 });
  });
  afterEach(() => opened.remove());

  const changes = (since?: string) =>
    opened.store.changes({ since, signal: new AbortController().signal })[Symbol.asyncIterator]();
  const putMany = async (count: number) => {
    for (let i = 0; i < count; i += 1) await put(opened.store, thing(`t${i}`));
  };

  it('gives a reader that is too slow a gap, and then the next changes', async () => {
    const reader = changes();
    const first = reader.next();
    await putMany(1);
    expect((await first).value).toMatchObject({ id: 't0' });
    await putMany(6);
    expect((await reader.next()).value).toMatchObject({ gap: true });
    const next = reader.next();
    await put(opened.store, thing('new'));
    expect((await next).value).toMatchObject({ id: 'new' });
  });

  it('lets a reader that is just fast enough miss nothing', async () => {
    const reader = changes();
    await putMany(5);
    for (let i = 0; i < 5; i += 1)
      expect((await reader.next()).value).toMatchObject({ id: `t${i}` });
  });

  it('knows a position as long as all later changes are kept', async () => {
    const reader = changes();
    await putMany(1);
    const { position } = (await reader.next()).value!;
    await putMany(5);
    expect((await changes(position).next()).value).toMatchObject({ id: 't0' });
    await putMany(1);
    expect((await changes(position).next()).value).toMatchObject({ gap: true });
  });

  it('answers a position from before a restart with a gap', async () => {
    const reader = changes();
    await putMany(1);
    const { position } = (await reader.next()).value!;
    await opened.store.close();
    opened.store = await opened.reopen();
    expect((await changes(position).next()).value).toMatchObject({ gap: true });
  });
});

describe('change feed of large documents', () => {
  const MAX_CHARACTERS = 1000;
  const large = (id: string, length: number) => ({ id, text: 'x'.repeat(length) });
  let feed: ChangeFeed<Record<string, never>>;
  const publish = (id: string, length: number) => feed.publish('things', id, large(id, length));
  const reader = () => feed.read({ signal: new AbortController().signal })[Symbol.asyncIterator]();
  beforeEach(() => {
    feed = new ChangeFeed(100, MAX_CHARACTERS);
  });

  it('keeps as many changes as fit into its bound', async () => {
    const reading = reader();
    for (const id of ['a', 'b', 'c']) publish(id, 300);
    for (const id of ['a', 'b', 'c']) expect((await reading.next()).value).toMatchObject({ id });
    const late = reader();
    for (const id of ['d', 'e', 'f', 'g']) publish(id, 300);
    expect((await late.next()).value).toMatchObject({ gap: true });
    publish('h', 300);
    expect((await late.next()).value).toMatchObject({ id: 'h' });
  });

  it('keeps the newest change, however large, and goes on after a gap for every reader', async () => {
    const reading = reader();
    publish('a', 5 * MAX_CHARACTERS);
    expect((await reading.next()).value).toMatchObject({ id: 'a' });
    feed.skip();
    expect((await reading.next()).value).toMatchObject({ gap: true });
    for (const id of ['b', 'c']) publish(id, 400);
    for (const id of ['b', 'c']) expect((await reading.next()).value).toMatchObject({ id });
  });

  it('lets go of a document that it no longer keeps', async () => {
    publish('a', 10);
    const held = new WeakRef(large('b', 2 * MAX_CHARACTERS));
    feed.publish('things', 'b', held.deref()!);
    publish('c', 10);
    await letGo(held);
  });
});
