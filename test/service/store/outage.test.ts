import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { StoreUnavailable, type Job } from '../../../service/src/store/store.ts';
import { BreakableFiles, diskError } from './breakableFiles.ts';
import { letGo } from '../../helpers/letGo.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const claiming = { queue: 'q', limit: 9, freeSlots: () => 9, leaseMs: 1_000 };
const job = (id: string) => ({ id, queue: 'q', group: 'g', runAt: 0, rank: 0, data: {} });

let files: BreakableFiles;
let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
let store: ContractStore;
beforeEach(() => {
  files = new BreakableFiles();
});
afterEach(() => opened.remove());

const completeJob = (id: string) => store.transaction((tx) => tx.jobs.complete(id));
const enqueueJob = (of: Job) => store.transaction((tx) => tx.jobs.enqueue(of));
const nextChange = () =>
  store.changes({ signal: new AbortController().signal })[Symbol.asyncIterator]().next();

describe('when the disk fails', () => {
  beforeEach(async () => {
    opened = await openInTemporaryFolder({ files, retryMs: 10 });
    ({ store } = opened);
    await put(store, thing('kept'));
  });
  afterEach(() => {
    files.fail = () => null;
  });

  const failOnce = (operation: 'write' | 'sync', code: string) => {
    files.fail = (failing) => {
      if (failing !== operation) return null;
      files.fail = () => null;
      return diskError(code);
    };
  };
  const recovered = () => waitFor('the store can write again', () => store.fault === null);
  const ids = async (of = store) => (await all(of)).map(({ id }) => id);

  it.each([
    ['a sync', 'sync', 'EIO', /input\/output error/],
    ['a write', 'write', 'ENOSPC', /no space is left/],
  ] as const)(
    'rejects everybody who waits for %s, keeps nothing of theirs, and works again',
    async (_what, operation, code, words) => {
      failOnce(operation, code);
      const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => put(store, thing(id))));
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
        expect((outcome as PromiseRejectedResult).reason.message).toMatch(words);
      }
      await recovered();
      expect(await ids()).toEqual(['kept']);
      await put(store, thing('d'));
      expect(await ids(await opened.reopen())).toEqual(['d', 'kept']);
    },
  );

  it('cuts off the part of a frame that was written', async () => {
    files.writtenBeforeFailing = 25;
    failOnce('write', 'EIO');
    await expect(put(store, thing('half'))).rejects.toThrow(StoreUnavailable);
    await recovered();
    await put(store, thing('next'));
    expect(await ids(await opened.reopen())).toEqual(['kept', 'next']);
  });

  it('refuses everything, says why, and tries until it can write again', async () => {
    let attempts = 0;
    files.fail = (operation) => {
      if (operation !== 'write') return null;
      attempts += 1;
      return diskError('ENOSPC');
    };
    await expect(put(store, thing('a'))).rejects.toThrow(StoreUnavailable);
    expect(store.fault).toMatch(/no space is left on the disk/);
    await waitFor('it has tried again and again', () => attempts > 4);
    await expect(put(store, thing('b'))).rejects.toThrow(/no space/);
    await expect(store.transaction((tx) => tx.things.get('kept'))).rejects.toThrow(
      StoreUnavailable,
    );
    await expect(store.claim(claiming)).rejects.toThrow(StoreUnavailable);
    let called = 0;
    store.onWork(() => (called += 1));
    files.fail = () => null;
    await recovered();
    expect(called).toBe(1);
    await put(store, thing('c'));
    expect(await ids()).toEqual(['c', 'kept']);
  });

  it('lets go of everything in memory before it reads it again', async () => {
    await opened.remove();
    opened = await openInTemporaryFolder({ files, retryMs: 10, keptChanges: 1 });
    ({ store } = opened);
    await enqueueJob(job('a'));
    await put(store, thing('held'));
    const held = new WeakRef((await store.transaction((tx) => tx.things.get('held')))!);
    await put(store, thing('newer')); // the change feed keeps this one
    files.fail = () => diskError('EIO');
    await expect(put(store, thing('failing'))).rejects.toThrow(StoreUnavailable);
    await letGo(held);
    expect(store.fault).not.toBeNull();
    files.fail = () => null;
    await recovered();
    expect(await ids()).toEqual(['held', 'newer']);
  });

  it('recovers even if cutting off the unfinished frame fails at first', async () => {
    let failures = 0;
    files.fail = (operation) => {
      if (operation !== 'sync' && operation !== 'truncate') return null;
      failures += 1;
      return failures < 4 ? diskError('EIO') : null;
    };
    await expect(put(store, thing('a'))).rejects.toThrow(StoreUnavailable);
    await recovered();
    await put(store, thing('b'));
    expect(await ids(await opened.reopen())).toEqual(['b', 'kept']);
  });

  it('can be closed, and has what was acknowledged at the next start', async () => {
    files.fail = (operation) => (operation === 'write' ? diskError('EIO') : null);
    await expect(put(store, thing('a'))).rejects.toThrow(StoreUnavailable);
    await store.close();
    files.fail = () => null;
    expect(await ids(await opened.reopen())).toContain('kept');
  });

  it('leaves claimed jobs with the workers that claimed them', async () => {
    await enqueueJob(job('mine'));
    expect(await store.claim(claiming)).toHaveLength(1);
    failOnce('sync', 'EIO');
    await expect(completeJob('mine')).rejects.toThrow(StoreUnavailable);
    await recovered();
    expect(await store.claim(claiming)).toEqual([]);
    opened.clock.advance(1_000);
    expect(await store.claim(claiming)).toHaveLength(1);
  });

  it('does not restart the wait of a job when the clock is set', async () => {
    await enqueueJob({ ...job('a'), runAt: opened.clock.now().getTime() + 5_000, rank: 1 });
    opened.clock.jump(24 * 3_600_000);
    failOnce('sync', 'EIO');
    await expect(
      store.transaction((tx) => tx.jobs.release('a', { runAt: 0, rank: 0 })),
    ).rejects.toThrow(StoreUnavailable);
    await recovered();
    expect(await store.claim(claiming)).toEqual([]);
    expect(await store.msUntilDue('q')).toBe(5_000);
  });

  it('continues the change feed where it was, without the changes that failed', async () => {
    const first = nextChange();
    failOnce('sync', 'EIO');
    await expect(put(store, thing('never'))).rejects.toThrow(StoreUnavailable);
    await recovered();
    await put(store, thing('real'));
    expect((await first).value).toMatchObject({ id: 'real' });
  });
});

describe('before a write is durable', () => {
  let release: () => void;
  beforeEach(async () => {
    opened = await openInTemporaryFolder({ files });
    ({ store } = opened);
    release = files.holdSyncs();
  });
  afterEach(() => release());

  /** Whether the promise settles within twenty turns of the event loop. */
  const settles = async (promise: Promise<unknown>) => {
    let settled = false;
    const note = () => (settled = true);
    promise.then(note, note);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return settled;
  };

  it('neither the write nor a read of it is answered', async () => {
    expect(await settles(store.transaction((tx) => tx.things.get('a')))).toBe(true);
    const writing = put(store, thing('a'));
    const reading = store.transaction((tx) => tx.things.get('a'));
    const failing = store.transaction(async (tx) => {
      if ((await tx.things.get('a')) !== null) throw new Error('a exists');
    });
    for (const each of [writing, reading, failing]) expect(await settles(each)).toBe(false);
    release();
    await writing;
    expect(await reading).toEqual(thing('a'));
    await expect(failing).rejects.toThrow('a exists');
  });

  it('a search that no longer finds what it removed, and a put that conflicts with it, are not answered either', async () => {
    release();
    await put(store, thing('a', { code: 'x' }));
    release = files.holdSyncs();
    const removing = store.transaction((tx) => tx.things.delete('a'));
    const searching = store.transaction((tx) =>
      tx.things.find({ where: { group: 'g' }, limit: 1 }),
    );
    const writing = put(store, thing('b', { group: 'h', code: 'x' }));
    const refused = put(store, thing('c', { code: 'x' }));
    for (const each of [removing, searching, writing, refused])
      expect(await settles(each)).toBe(false);
    release();
    expect(await searching).toEqual([]);
    await writing;
    await expect(refused).rejects.toThrow('already holds');
  });

  it('a reader of other collections does not wait for it', async () => {
    const writing = put(store, thing('a'));
    expect(await settles(store.transaction((tx) => tx.others.get('a')))).toBe(true);
    const both = store.transaction(async (tx) => [
      await tx.others.get('a'),
      await tx.things.get('a'),
    ]);
    expect(await settles(both)).toBe(false);
    release();
    await Promise.all([writing, both]);
  });

  it('its jobs are not handed out, and its changes are not announced', async () => {
    let called = 0;
    store.onWork(() => (called += 1));
    const change = nextChange();
    const writing = store.transaction(async (tx) => {
      await tx.jobs.enqueue(job('a'));
      await tx.things.put(thing('a'));
    });
    expect(await settles(change)).toBe(false);
    expect(await store.claim(claiming)).toEqual([]);
    expect(await store.msUntilDue('q')).toBeNull();
    expect(called).toBe(0);
    release();
    await writing;
    expect(called).toBe(1);
    expect(await store.claim(claiming)).toHaveLength(1);
    expect((await change).value).toMatchObject({ id: 'a' });
  });

  it('jobs that it completes are no longer handed out', async () => {
    release();
    await enqueueJob(job('a'));
    release = files.holdSyncs();
    const cancelling = completeJob('a');
    await Promise.resolve();
    expect(await store.claim(claiming)).toEqual([]);
    release();
    await cancelling;
  });

  it('jobs that are added and completed in the meantime are never handed out', async () => {
    const added = enqueueJob(job('a'));
    const changed = enqueueJob({ ...job('b'), rank: 1 });
    const takenBack = completeJob('a');
    const changedAgain = store.transaction((tx) => tx.jobs.release('b', { runAt: 5, rank: 0 }));
    release();
    await Promise.all([added, changed, takenBack, changedAgain]);
    expect(await store.claim(claiming)).toEqual([{ ...job('b'), runAt: 5, rank: 0 }]);
  });
});
