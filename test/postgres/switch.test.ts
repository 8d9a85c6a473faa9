import { readdir } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatCustomer } from '../helpers/apiClient.ts';
import { openStoreOf } from '../helpers/openStore.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/serviceProcess.ts';
import { freshStorage } from '../helpers/storage.ts';
import { dropSchema, keptSchemas } from './schemas.ts';

const url = process.env.DATABASE_URL!;

describe('with DATABASE_URL', () => {
  let inProcess: TestService | undefined;
  let asProcess: ServiceProcess | undefined;
  afterEach(async () => {
    await inProcess?.stop();
    await asProcess?.close();
    [inProcess, asProcess] = [undefined, undefined];
  });

  it("a test's service keeps everything in the database, also over restarts, and nothing in its folder", async () => {
    const service = (inProcess = await startTestService());
    const customer = await chatCustomer(service.url);
    const { message_id: id } = await customer.write('hello');
    const other = await service.addWorkspace('Other'); // restarts the service
    expect((await other.get('/api/conversations')).body.data).toEqual([]);
    expect((await service.api.get('/api/conversations')).body.data).toHaveLength(1);
    expect(await service.stored()).toContain(id);
    expect(await readdir(service.folder)).toEqual([]);
  });

  it('two services of a test share nothing', async () => {
    const service = (inProcess = await startTestService());
    await (await chatCustomer(service.url)).write('hello');
    const other = await startTestService();
    try {
      expect((await other.api.get('/api/conversations')).body.data).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('a service in a process of its own keeps everything, also over kill -9', async () => {
    const service = (asProcess = await startServiceProcess());
    const customer = await chatCustomer(service.url);
    const { message_id: id } = await customer.write('hello');
    await service.crashAndRestart();
    expect((await customer.api.get('/api/chat/messages')).body.data).toMatchObject([{ id }]);
  });

  it.each([
    ['leaves nothing of a test that passed', 0],
    ['keeps the schema of a test that failed', 1],
  ])('%s', async (_what, failures) => {
    const storage = await freshStorage();
    const schema = storage.env.DATABASE_SCHEMA!;
    await (await openStoreOf(storage.env)).close();
    expect(await keptSchemas(url)).toContain(schema);
    const counted = globalThis as { failuresSoFar?: number };
    counted.failuresSoFar! += failures;
    await storage.remove();
    counted.failuresSoFar! -= failures;
    expect((await keptSchemas(url)).includes(schema)).toBe(failures > 0);
    await dropSchema(url, schema);
  });
});
