import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Change, Gap } from '../../../service/src/store/store.ts';
import { put, thing, type contractSchema, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connected } from '../client.ts';
import { startPostgres, type PostgresServer } from '../server.ts';
import { freshSchema, openQuietStore } from '../store/contractStores.ts';
import { startCommitProxy, type CommitProxy } from './commitProxy.ts';

describe('when PostgreSQL crashes', () => {
  let server: PostgresServer;
  let proxy: CommitProxy;
  let store: ContractStore;
  const stopping = new AbortController();

  beforeAll(async () => {
    // What is not committed stays in memory: a crash loses it.
    server = await startPostgres({
      fsync: false,
      settings: { wal_writer_delay: '10s', wal_writer_flush_after: '1GB' },
    });
    proxy = await startCommitProxy(server.url);
    store = await openQuietStore(freshSchema(), { database: proxy.url, connections: 3 });
  }, 90_000);
  afterAll(async () => {
    stopping.abort();
    proxy?.setOpen(true);
    await server?.resume();
    await store?.close();
    await proxy?.close();
    await server?.stop();
  });

  it('those who follow the store’s changes are told of a gap, and of what changes afterwards', async () => {
    const seen: (Change<typeof contractSchema> | Gap)[] = [];
    void (async () => {
      for await (const each of store.changes({ signal: stopping.signal })) seen.push(each);
    })();
    await put(store, thing('a'));
    await waitFor('the first change', () => seen.length === 1);
    await server.restart('immediate');
    await waitFor('the store to write again', () => put(store, thing('b')).then(() => true));
    await waitFor('a gap', () => seen.some((each) => 'gap' in each));
    await put(store, thing('c'));
    await waitFor('the change after it', () =>
      seen.some((each) => !('gap' in each) && each.id === 'c'),
    );
  }, 90_000);

  it('a commit that the crash lost is never taken for done, although another transaction gets its number', async () => {
    await put(store, thing('first'));
    const marker = 'lost in the crash';
    // The store must not look the transaction up before another one has its number.
    proxy.strikeNext(marker, 'request', true);
    const writing = put(store, thing('lost', { note: marker })).then(
      () => 'acknowledged',
      (error: Error) => error.name,
    );
    await waitFor('the commit to be struck', () => proxy.struck === 1);
    await server.restart('immediate');
    // Transactions are numbered on from where the log ends: one of these gets the lost number.
    await connected(server.url, async (client) => {
      await client.query('CREATE TABLE others (n int)');
      for (let n = 0; n < 200; n += 1) await client.query('INSERT INTO others VALUES (1)');
    });
    proxy.setOpen(true);
    const told = await writing;
    await waitFor('the store to read again', () =>
      store.transaction((tx) => tx.things.peek('first')),
    );
    const stored = await store.transaction((tx) => tx.things.peek('lost'));
    // Run again and stored, or refused; never acknowledged and not stored.
    expect(told === 'acknowledged' ? stored?.note : told).toBe(
      told === 'acknowledged' ? marker : 'StoreUnavailable',
    );
  }, 90_000);
});
