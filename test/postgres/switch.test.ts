import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { chatCustomer } from '../helpers/apiClient.ts';
import { openFreshStore } from '../helpers/openStore.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/serviceProcess.ts';
import { keptSchemas } from './schemas.ts';

const url = process.env.DATABASE_URL!;

describe('with DATABASE_URL', () => {
  let service: TestService | ServiceProcess | undefined;
  afterEach(async () => {
    if (service) await ('stop' in service ? service.stop() : service.close());
    service = undefined;
  });

  it('a test’s service keeps its data in a schema of its own and nothing in its folder, and leaves nothing', async () => {
    const before = await keptSchemas(url);
    const here = await startTestService();
    service = here;
    const { message_id: id } = await (await chatCustomer(here.url)).write('hello');
    expect(await keptSchemas(url)).toHaveLength(before.length + 2); // its tables' and its queues'
    expect(await readdir(here.folder)).toEqual([]);
    expect(await here.stored()).toContain(id);
    const other = await here.addWorkspace('Other');
    expect((await other.get('/api/conversations')).body.data).toEqual([]);
    expect(await here.stored()).toContain(id);
    await here.stop();
    service = undefined;
    expect(await keptSchemas(url)).toEqual(before);
  });

  it('so does one that is a process, over kill -9', async () => {
    const process = await startServiceProcess();
    service = process;
    const customer = await chatCustomer(process.url);
    const { message_id: id } = await customer.write('hello');
    await process.crashAndRestart();
    expect((await customer.api.get('/api/chat/messages')).body.data).toMatchObject([{ id }]);
  });

  it('so does a store without a service', async () => {
    const { store, folder, remove } = await openFreshStore();
    await store.transaction((tx) => tx.settings.put({ id: 'test' } as never));
    expect(await readdir(folder)).toEqual([]);
    await remove();
  });

  it('what a failed test stored is kept', async () => {
    const counting = globalThis as { failuresSoFar?: number };
    const kept = await startTestService();
    counting.failuresSoFar! += 1;
    await kept.stop();
    counting.failuresSoFar! -= 1;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string }>(`SELECT nspname AS name FROM pg_namespace WHERE starts_with(nspname, 'test_')`);
      expect(rows).toHaveLength(2);
      for (const { name } of rows) await client.query(`DROP SCHEMA ${client.escapeIdentifier(name)} CASCADE`);
    } finally {
      await client.end();
    }
  });
});
