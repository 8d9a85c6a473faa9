// Connections that were cut while they lay in their pool, which does not know it yet.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import type { ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { freshSchema, openQuietStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

class CutDatabase extends WrappedDatabase {
  /** How many of the next connections turn out to be dead. */
  dead = 0;

  protected wrap(connection: Connection): Connection['query'] {
    if (this.dead === 0) return (statement) => connection.query(statement);
    this.dead -= 1;
    return () => Promise.reject(new Error('Connection terminated unexpectedly'));
  }
}

describe('a store whose connections were cut', () => {
  let schema: string;
  let database: CutDatabase;
  let store: ContractStore;
  beforeEach(async () => {
    schema = freshSchema();
    database = new CutDatabase(5);
    store = await openQuietStore(schema, { database });
  });
  afterEach(async () => {
    await store.close();
    await removeSchema(schema);
  });
  const write = () => store.transaction((tx) => tx.others.put({ id: 'a' }));

  it.each([1, 8])(
    'writes after passing over %d dead connections, and reports no fault',
    async (dead) => {
      database.dead = dead;
      await write();
      expect([database.dead, store.fault]).toEqual([0, null]);
    },
  );

  it('is unavailable while every connection is dead', async () => {
    database.dead = Infinity;
    await expect(write()).rejects.toThrow(StoreUnavailable);
    expect(store.fault).toMatch(/the connection was lost$/);
    database.dead = 0;
    await waitFor('the outage to end', () => store.fault === null);
    await write();
  });
});
