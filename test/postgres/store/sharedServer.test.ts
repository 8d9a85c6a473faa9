// A server that other programs use too.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { freshSchema, openClient, openStore, removeSchema } from './contractStores.ts';

it('a store is set up while another program makes and removes schemas of its own', async () => {
  const other = await openClient();
  let isDone = false;
  const busy = (async () => {
    for (let n = 0; !isDone; n++) {
      const name = `test_other_${n % 50}`;
      await other.query(
        `CREATE SCHEMA ${name}; CREATE TABLE ${name}.a (id int GENERATED ALWAYS AS IDENTITY, b int, c int)`,
      );
      await other.query(`DROP SCHEMA ${name} CASCADE`);
      await sleep(2);
    }
  })();
  try {
    for (let n = 0; n < 10; n++) {
      const schema = freshSchema();
      const store = await openStore(schema);
      expect(store.fault).toBeNull();
      await store.close();
      await removeSchema(schema);
    }
  } finally {
    isDone = true;
    await busy;
    await other.end();
  }
});
