// A rewrite whose commit the server has done, and whose answer never came.
import { expect, it } from '@jest/globals';
import type { Connection } from '../../../service/src/store/postgres/index.ts';
import { all, put, thing, type Thing } from '../../contract/schema.ts';
import { freshSchema, openStore, removeSchema } from './contractStores.ts';
import { WrappedDatabase } from './wrappedDatabase.ts';

/** Loses the answer to one COMMIT. */
class DeafDatabase extends WrappedDatabase {
  losesNext = false;

  protected wrap(connection: Connection): Connection['query'] {
    return async (statement) => {
      const result = await connection.query(statement);
      if (statement.text !== 'COMMIT' || !this.losesNext) return result;
      this.losesNext = false;
      throw new Error('Connection terminated unexpectedly');
    };
  }
}

it('a rewrite whose answer is lost after its commit is not done twice', async () => {
  const schema = freshSchema();
  const database = new DeafDatabase(5);
  const store = await openStore(schema, database, undefined, false);
  await put(store, thing('a', { number: 1 }));
  database.losesNext = true;
  await store.rewrite((document) => {
    const { number } = document as Thing;
    return { ...document, number: number + 1 } as Thing;
  });
  expect(database.losesNext).toBe(false);
  expect(await all(store)).toEqual([thing('a', { number: 2 })]);
  await store.close();
  await removeSchema(schema);
});
