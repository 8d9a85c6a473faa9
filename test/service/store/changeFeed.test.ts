import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { put, thing } from '../../contract/schema.ts';

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

  it('gives a reader that is too slow a gap, and then what comes', async () => {
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
    for (let i = 0; i < 5; i += 1) expect((await reader.next()).value).toMatchObject({ id: `t${i}` });
  });

  it('knows a position as long as all behind it are kept', async () => {
    const reader = changes();
    await putMany(1);
    const { position } = (await reader.next()).value!;
    await putMany(5);
    expect((await changes(position).next()).value).toMatchObject({ id: 't0' });
    await putMany(1);
    expect((await changes(position).next()).value).toMatchObject({ gap: true });
  });

  it('says that positions of an earlier life are unknown', async () => {
    const reader = changes();
    await putMany(1);
    const { position } = (await reader.next()).value!;
    await opened.store.close();
    opened.store = await opened.reopen();
    expect((await changes(position).next()).value).toMatchObject({ gap: true });
  });
});
