// A claim that the server has carried out, and whose answer never came.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import { StoreUnavailable } from '../../../service/src/store/store.ts';
import { enqueue, job, type ContractStore } from '../../contract/schema.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { query } from '../client.ts';
import { freshSchema, openStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

/** So many cut connections in a row are an outage. */
const MAX_CUT_CONNECTIONS = 8;
const LEASE_MS = 60_000;
const REQUEST = { queue: 'q', limit: 10, leaseMs: LEASE_MS, freeSlots: () => 10 };

/** Loses the answers to claims. */
class DeafDatabase extends WrappedDatabase {
  toLose = 0;
  lost = 0;
  /** How many more connections fail to reach the server. */
  unreachable = 0;
  givenBack = 0;

  override async connect(): Promise<Connection> {
    if (this.unreachable === 0) return super.connect();
    this.unreachable -= 1;
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  }

  protected wrap(connection: Connection): Connection['query'] {
    return async (statement) => {
      if (/^UPDATE .* SET claimed_by = NULL/.test(statement.text)) this.givenBack += 1;
      const result = await connection.query(statement);
      if (statement.name !== 'cs_claim' || this.lost === this.toLose) return result;
      this.lost += 1;
      throw new Error('Connection terminated unexpectedly');
    };
  }
}

describe('a claim whose answer is lost', () => {
  let schema: string;
  let database: DeafDatabase;
  let store: ContractStore;
  beforeEach(async () => {
    schema = freshSchema();
    database = new DeafDatabase(5);
    store = await openStore(schema, { database });
  });
  afterEach(async () => {
    await store.close();
    await removeSchema(schema);
  });

  const add = (...ids: string[]) => enqueue(store, ...ids.map((id) => job(id, { runAt: 0 })));
  const claim = async () => (await store.claim(REQUEST)).map(({ id }) => id);

  it('is made again at once, and what was claimed before stays claimed', async () => {
    await add('before');
    expect(await claim()).toEqual(['before']);
    await add('a', 'b');
    database.toLose = 3;
    expect(await claim()).toEqual(['a', 'b']);
    expect(database.lost).toBe(3);
    expect(await claim()).toEqual([]);
    const rows = await query(
      process.env.DATABASE_URL!,
      `SELECT count(DISTINCT claimed_by)::int AS claims, count(*)::int AS jobs FROM ${schema}.jobs WHERE claimed_by IS NOT NULL AND due_at > extract(epoch FROM now()) * 1000 + ${LEASE_MS / 2}`,
    );
    expect(rows).toEqual([{ claims: 2, jobs: 3 }]);
    expect(database.givenBack).toBe(3);
  });

  it('is given back also when this process has no more room for what it claimed', async () => {
    await add('a');
    database.toLose = MAX_CUT_CONNECTIONS;
    await expect(store.claim(REQUEST)).rejects.toThrow(StoreUnavailable);
    await waitFor('the outage to end', () => store.fault === null);
    await store.claim({ ...REQUEST, freeSlots: () => 0 });
    const rows = await query(process.env.DATABASE_URL!, `SELECT claimed_by FROM ${schema}.jobs`);
    expect(rows).toEqual([{ claimed_by: null }]);
  });

  it('that was never sent is not given back', async () => {
    await add('a');
    database.unreachable = 1;
    await waitFor('the claim', async () => (await claim()).length === 1);
    await claim();
    expect([database.unreachable, database.givenBack]).toEqual([0, 0]);
  });
});
