// On PostgreSQL: requests of one workspace that wait for locks leave connections to the others.
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { systemClock } from '../../../../service/src/platform/clock.ts';
import { createApiKey } from '../../../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import { MEMBER_ENV, signedInBrowser } from '../../../helpers/browserless.ts';
import { apiClient, chatCustomer, type ApiClient } from '../../../helpers/apiClient.ts';
import { boundReached } from '../../../helpers/metrics.ts';
import { openStoreOf } from '../../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { freshStorage, testDatabaseUrl } from '../../../helpers/storage.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

const CONNECTIONS = 4;
const CONVERSATIONS = 10;
const TWINS = 4;

/** Run after each test, last added first. */
const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

(testDatabaseUrl() === null ? describe.skip : describe)('on four database connections', () => {
  let schema: string;
  let service: TestService;
  let other: ApiClient;

  async function start() {
    const { env, remove } = await freshStorage();
    undo.push(remove);
    schema = env.DATABASE_SCHEMA!;
    service = await startTestService({
      env: { ...env, ...MEMBER_ENV, DATABASE_CONNECTIONS: String(CONNECTIONS) },
    });
    undo.push(() => service.stop());
    other = await addWorkspace(env);
  }

  async function addWorkspace(env: Readonly<Record<string, string>>): Promise<ApiClient> {
    const store = await openStoreOf(env);
    const deps = { store, clock: systemClock };
    const workspace = await createWorkspace(deps, 'Other');
    const { key } = await createApiKey(deps, workspace, { name: 'test', createdBy: 'test' });
    await store.close();
    return apiClient(service.url, key);
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: testDatabaseUrl()! });
    await client.connect();
    undo.push(() => client.end());
    return client;
  }

  /** @returns the conversations' ids */
  async function startConversations(): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < CONVERSATIONS; n += 1)
      ids.push((await (await chatCustomer(service.url)).write('hello')).conversation_id);
    return ids;
  }

  /** Locks these conversations, so that a change to one waits. @returns releases the locks */
  async function holdConversations(ids: readonly string[]): Promise<() => Promise<void>> {
    const client = await connect();
    await client.query('BEGIN');
    await client.query(`SELECT FROM "${schema}".conversations WHERE id = ANY($1) FOR UPDATE`, [
      ids,
    ]);
    return async () => void (await client.query('COMMIT'));
  }

  it('repeated calls that wait hold half of them; another workspace reads and writes, and all calls are answered', async () => {
    await start();
    const ids = await startConversations();
    const letGo = await holdConversations(ids);
    let answered = 0;
    const send = async (id: string) => {
      const answer = await service.api.post(
        `/api/conversations/${id}/messages`,
        { text: 'once' },
        { 'idempotency-key': `key-${id}` },
      );
      answered += 1;
      return { id, answer };
    };
    const twins = ids.flatMap((id) => Array.from({ length: TWINS }, () => send(id)));
    const client = await connect();
    const waiting = `SELECT FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`;
    await waitFor('the twins to wait', async () => (await client.query(waiting)).rowCount);

    for (let n = 0; n < 20; n += 1) {
      expect((await other.get('/api/conversations')).status).toBe(200);
      const tool = await other.post('/api/tools', {
        name: `tool_${n}`,
        description: 'A tool',
        parameters: {},
        kind: 'Webhook',
        endpoint: 'https://127.0.0.1:9/x',
      });
      expect(tool.status).toBe(201);
    }
    expect(answered).toBe(0);
    await letGo();
    for (const { id, answer } of await Promise.all(twins)) {
      expect(answer.status).toBe(201);
      expect(answer.body.conversation.id).toBe(id);
    }
    for (const id of ids)
      expect((await service.api.get(`/api/conversations/${id}`)).body.message_count).toBe(2);
    expect(await boundReached(service.url, 'workspace_transactions')).toBe(0);
  }, 120_000);

  it('replies of a member that wait hold half of them; another workspace reads, and all replies are sent', async () => {
    await start();
    const ids = await startConversations();
    const browser = await signedInBrowser(service.url);
    const letGo = await holdConversations(ids);
    let answered = 0;
    const replies = ids.map(async (id) => {
      const { status } = await browser.post(`/conversations/${id}/reply`, { text: 'Hello' });
      answered += 1;
      return status;
    });
    for (let n = 0; n < 20; n += 1)
      expect((await other.get('/api/conversations')).status).toBe(200);
    expect(answered).toBe(0);
    await letGo();
    expect(await Promise.all(replies)).toEqual(Array(CONVERSATIONS).fill(200));
    for (const id of ids)
      expect((await service.api.get(`/api/conversations/${id}`)).body.message_count).toBe(2);
  }, 120_000);
});
