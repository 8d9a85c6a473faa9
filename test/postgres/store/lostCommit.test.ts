// A commit whose answer never came. Most of them the server has carried out.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import type { DumpedRecord } from '../../../service/src/store/store.ts';
import {
  all,
  enqueue,
  job,
  put,
  thing,
  type ContractStore,
  type Thing,
} from '../../contract/schema.ts';
import { freshSchema, openQuietStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

/** Loses the answer to one COMMIT. */
class DeafDatabase extends WrappedDatabase {
  losesNext = false;
  /** Whether that COMMIT did not reach the server either. */
  isUnheard = false;

  protected wrap(connection: Connection): Connection['query'] {
    return async (statement) => {
      if (statement.text !== 'COMMIT' || !this.losesNext) return connection.query(statement);
      this.losesNext = false;
      await connection.query({ text: this.isUnheard ? 'ROLLBACK' : 'COMMIT' });
      throw new Error('Connection terminated unexpectedly');
    };
  }
}

let schema: string;
let database: DeafDatabase;
let store: ContractStore;
beforeEach(async () => {
  schema = freshSchema();
  database = new DeafDatabase(5);
  store = await openQuietStore(schema, { database });
});
afterEach(async () => {
  await store.close();
  await removeSchema(schema);
});

it('a rewrite whose commit gets no answer is not done twice', async () => {
  await put(store, thing('a', { number: 1 }));
  database.losesNext = true;
  await store.rewrite((document) => {
    const { number } = document as Thing;
    return { ...document, number: number + 1 } as Thing;
  });
  expect(database.losesNext).toBe(false);
  expect(await all(store)).toEqual([thing('a', { number: 2 })]);
});

it('an import whose commit gets no answer has succeeded', async () => {
  async function* dump(): AsyncGenerator<DumpedRecord> {
    yield { collection: 'things', document: thing('a') };
  }
  database.losesNext = true;
  await store.restore(dump());
  expect(database.losesNext).toBe(false);
  expect(await all(store)).toEqual([thing('a')]);
});

it('a new queue is counted, even if the first commit with its name was lost', async () => {
  Object.assign(database, { losesNext: true, isUnheard: true });
  await enqueue(store, job('a'));
  expect(database.losesNext).toBe(false);
  await store.transaction((tx) => tx.jobs.complete('a'));
  expect((await store.stats()).queues).toHaveProperty('q');
});
