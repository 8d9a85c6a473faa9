import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collection, type Change, type Gap } from '../../../service/src/store/store.ts';
import {
  baseTables,
  createTable,
  generationTable,
  openPostgresStore,
  type PostgresStore,
} from '../../../service/src/store/postgres/index.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { connected } from '../client.ts';
import { startPostgres, type PostgresServer } from '../server.ts';
import { startCommitProxy, type CommitProxy } from './commitProxy.ts';

interface Note {
  readonly id: string;
  readonly text: string;
}
const schema = { notes: collection<Note>({ indexes: [] }) };
const migrations = {
  '0001': (name: string) =>
    [baseTables(name), createTable(name, 'notes', []), generationTable(name)].join('\n'),
};

describe('the store, when PostgreSQL crashes', () => {
  let server: PostgresServer;
  let proxy: CommitProxy;
  let store: PostgresStore<typeof schema>;
  const stopping = new AbortController();

  beforeAll(async () => {
    // What is not committed stays in memory: a crash loses it.
    server = await startPostgres({
      fsync: false,
      settings: { wal_writer_delay: '10s', wal_writer_flush_after: '1GB' },
    });
    proxy = await startCommitProxy(server.url);
    store = await openPostgresStore(schema, {
      database: proxy.url,
      schema: 'notes',
      migrations,
      queues: [],
      connections: 3,
      runsJobs: false,
    });
  }, 90_000);
  afterAll(async () => {
    stopping.abort();
    proxy?.setOpen(true);
    await server?.resume();
    await store?.close();
    await proxy?.close();
    await server?.stop();
  });
  const put = (note: Note) => store.transaction((tx) => tx.notes.put(note));

  it('those who follow its changes are told of a gap, and of what changes afterwards', async () => {
    const seen: (Change<typeof schema> | Gap)[] = [];
    void (async () => {
      for await (const each of store.changes({ signal: stopping.signal })) seen.push(each);
    })();
    await put({ id: 'a', text: 'before' });
    await waitFor('the first change', () => seen.length === 1);
    await server.restart('immediate');
    await waitFor('the store to write again', () =>
      put({ id: 'b', text: 'after' }).then(() => true),
    );
    await waitFor('a gap', () => seen.some((each) => 'gap' in each));
    await put({ id: 'c', text: 'later' });
    await waitFor('the change after it', () =>
      seen.some((each) => !('gap' in each) && each.id === 'c'),
    );
  }, 90_000);

  it('a commit that the crash lost is never taken for done, although its number is given to another', async () => {
    await put({ id: 'first', text: 'kept' });
    const marker = 'lost in the crash';
    // Nobody may ask before the number has been given again.
    proxy.strikeNext(marker, 'request', true);
    const writing = put({ id: 'lost', text: marker }).then(
      () => 'acknowledged',
      (error: Error) => error.name,
    );
    await waitFor('the commit to be struck', () => proxy.struck === 1);
    await server.restart('immediate');
    // Numbers go on from where the log ends: one of many others takes the number that was lost.
    await connected(server.url, async (client) => {
      await client.query('CREATE TABLE others (n int)');
      for (let n = 0; n < 200; n += 1) await client.query('INSERT INTO others VALUES (1)');
    });
    proxy.setOpen(true);
    const told = await writing;
    await waitFor('the store to read again', () =>
      store.transaction((tx) => tx.notes.peek('first')),
    );
    const stored = await store.transaction((tx) => tx.notes.peek('lost'));
    // Run again and stored, or refused; never acknowledged and not stored.
    expect(told === 'acknowledged' ? stored?.text : told).toBe(
      told === 'acknowledged' ? marker : 'StoreUnavailable',
    );
  }, 90_000);
});
