import { expect, it } from '@jest/globals';
import { openPostgresStore } from '../../../../service/src/store/postgres/index.ts';

it.each([
  ['postgres:///chats?host=/nowhere', '/nowhere:5432/chats'],
  ['postgres://user:secret@127.0.0.1:2/chats?host=localhost&port=1', 'localhost:1/chats'],
  ['postgres://user:secret@localhost:1/chats', 'localhost:1/chats'],
])('the error names the place that %s leads to', async (database, place) => {
  const opened = openPostgresStore({}, { database, schema: 's', migrations: {}, queues: [] });
  await expect(opened).rejects.toThrow(`The database at ${place} cannot be used: `);
  await expect(opened).rejects.not.toThrow('secret');
});
