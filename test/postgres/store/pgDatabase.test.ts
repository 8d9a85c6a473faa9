// Connections that fail in the moment when they are opened.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silent } from '../../../service/src/store/clockAndLog.ts';
import { runOn } from '../../../service/src/store/postgres/connection/database.ts';
import { PgDatabase } from '../../../service/src/store/postgres/connection/pgDatabase.ts';
import { startCommitProxy, type CommitProxy } from '../outage/commitProxy.ts';

describe('a new connection', () => {
  let proxy: CommitProxy;
  let database: PgDatabase;
  beforeEach(async () => {
    proxy = await startCommitProxy(process.env.DATABASE_URL!);
    database = new PgDatabase({ url: proxy.url, connections: 1, log: silent });
  });
  afterEach(async () => {
    await proxy.close();
    await database.close();
  });

  it('that is cut before its first statement fails that statement; the next statement gets another connection', async () => {
    proxy.cutNextReady();
    await expect(runOn(database, { text: 'SELECT 1' })).rejects.toThrow(/not queryable/);
    expect((await runOn(database, { text: 'SELECT 2 AS n' })).rows).toEqual([{ n: 2 }]);
  });

  it('on which the server falls silent during the guard is given up', async () => {
    proxy.muteAt('guard of this test');
    database.setGuard(async (connection) => {
      await connection.query({ text: 'SELECT 1 /* guard of this test */' });
    });
    await expect(runOn(database, { text: 'SELECT 2' })).rejects.toThrow(/Connection terminated/);
    expect(proxy.isMuted).toBe(true);
  }, 60_000);
});
