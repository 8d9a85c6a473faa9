import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import { openInTemporaryFolder } from '../../contract/openInTemporaryFolder.ts';
import { all, put, thing } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { BreakableFiles } from './breakableFiles.ts';
import { listeningLog } from './listeningLog.ts';

describe('when the disk does not finish an fsync', () => {
  let files: BreakableFiles;
  let log: ReturnType<typeof listeningLog>;
  let opened: Awaited<ReturnType<typeof openInTemporaryFolder>>;
  let release = () => {};
  beforeEach(() => {
    files = new BreakableFiles();
    log = listeningLog();
  });
  afterEach(() => {
    release();
    return opened.remove();
  });

  it.each([
    ['of the journal', (path: string) => path.includes('journal')],
    ['of the next journal, as a snapshot begins', (path: string) => path.includes('journal-2')],
  ])(
    '%s, the store refuses what comes, says why, keeps what waits, and goes on when the disk does',
    async (_which, held) => {
      const options = { stalledAfterMs: 500, snapshotAfterBytes: 1 };
      opened = await openInTemporaryFolder({ files, log, ...options });
      const { store } = opened;
      release = files.holdSyncs(held);
      const waiting = [put(store, thing('a'))];
      await waitFor('the disk to hold it', () => files.heldSyncs > 0);
      waiting.push(put(store, thing('b')));
      await waitFor('the fault', () => store.fault);
      expect(store.fault).toMatch(/^the disk has not confirmed a write for \d+ seconds/);
      await expect(put(store, thing('refused'))).rejects.toThrow(StoreUnavailable);
      const claim = store.claim({ queue: 'q', limit: 1, freeSlots: () => 1, leaseMs: 1 });
      await expect(claim).rejects.toThrow(StoreUnavailable);
      await waitFor('the log', () => log.lines.join().includes('has not confirmed a write'));
      release();
      await Promise.all(waiting);
      expect(store.fault).toBeNull();
      await put(store, thing('c'));
      await waitFor('the log', () => log.lines.join().includes('the disk confirms writes again'));
      expect((await all(await opened.reopen())).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    },
  );

  it('for a moment, the store only waits', async () => {
    opened = await openInTemporaryFolder({ files, log });
    const { store } = opened;
    release = files.holdSyncs();
    const waiting = put(store, thing('a'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(store.fault).toBeNull();
    release();
    await waiting;
    expect(store.fault).toBeNull();
  });
});
