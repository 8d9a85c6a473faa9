// One workspace fills the memory: it is refused, and the others go on.
import { testDeps } from '../../../helpers/testDeps.ts';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createApiKey } from '../../../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import { receiveMessage } from '../../../../service/src/conversations/operations/receiveMessage.ts';
import { sendMessage } from '../../../../service/src/conversations/operations/sendMessage.ts';
import { startChatSession } from '../../../../service/src/channels/web_chat/chatOperations.ts';
import type { Workspace } from '../../../../service/src/team/workspace.ts';
import { apiClient, type ApiClient } from '../../../helpers/apiClient.ts';
import { HeapAt } from '../../../helpers/heapAt.ts';
import { boundReached, readMetrics } from '../../../helpers/metrics.ts';
import { openStoreOf } from '../../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { startServiceProcess, type ServiceProcess } from '../../../helpers/serviceProcess.ts';
import type { Storage } from '../../../helpers/storage.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { fillMemory } from './fillMemory.ts';

const REFUSED =
  /^This workspace stores much of the service's data, and the memory is nearly full: /;

const SERVED = [201, 202, 201];

/** A new visitor writes, and somebody answers. @returns the status of each call */
async function chat(url: string, api: ApiClient, workspace: string): Promise<number[]> {
  const session = await apiClient(url, null).post('/api/chat/sessions', { workspace });
  if (session.status !== 201) return [session.status];
  const message = await apiClient(url, session.body.token as string).post('/api/chat/messages', {
    text: 'Hello',
    client_message_id: 'c1',
  });
  if (message.status !== 202) return [201, message.status];
  const reply = await api.post(
    `/api/conversations/${message.body.conversation_id as string}/messages`,
    { text: 'Welcome' },
  );
  return [201, 202, reply.status];
}

describe('at the marks of the memory', () => {
  let service: TestService;
  afterEach(() => service.stop());

  it('the workspace that stores most is refused new chats, then all that adds data, and the other nothing; both go on once there is room', async () => {
    const heap = new HeapAt();
    service = await startTestService({ store: { heap } });
    const other = await service.addWorkspace('Other');
    const { url, api } = service;
    const inLarge = () => chat(url, api, 'test');
    const inOther = () => chat(url, other, 'other');
    for (let i = 0; i < 3; i += 1) expect(await inLarge()).toEqual(SERVED);
    const toolFields = {
      name: 'look_up',
      description: 'x'.repeat(1000),
      parameters: { type: 'object' },
      kind: 'Webhook',
      endpoint: 'https://127.0.0.1/x',
      timeout: 5,
    };
    const tool = await api.post('/api/tools', toolFields);
    expect([tool.status, await inOther()]).toEqual([201, SERVED]);
    const conversation = (await api.get('/api/conversations')).body.data[0].id as string;
    const add = (text = 'More') =>
      api.post(`/api/conversations/${conversation}/messages`, { text });
    for (let i = 0; i < 30; i += 1) expect((await add('x'.repeat(4000))).status).toBe(201);
    const fillTo = (share: number, refuses: string | null) => fillMemory(heap, url, share, refuses);

    await fillTo(0.56, 'new chats of workspaces that store more than is free are refused');
    const arriving = await apiClient(url, null).post('/api/chat/sessions', { workspace: 'test' });
    expect([
      arriving.status,
      arriving.body.error.message,
      arriving.headers.get('retry-after'),
    ]).toEqual([503, expect.stringMatching(REFUSED), '10']);
    expect([(await add()).status, await inOther()]).toEqual([201, SERVED]);

    await fillTo(
      0.61,
      'everything that adds data to workspaces that store more than is free is refused',
    );
    const refused = await add();
    expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
      503,
      'unavailable',
      expect.stringMatching(REFUSED),
    ]);
    expect([await inLarge(), await inOther()]).toEqual([[503], SERVED]);
    expect((await other.post('/api/tools', toolFields)).status).toBe(201);
    // What anybody may read names no workspace.
    expect(await (await fetch(`${url}/readyz`)).text()).toMatch(
      /The log names these workspaces; the largest stores \d\d % of all data\. The others continue\./,
    );
    const metrics = await readMetrics(url);
    expect(metrics.value('conversation_service_store_memory_largest_share')).toBeGreaterThan(0.6);
    expect(await boundReached(url, 'memory_workspace')).toBe(3);

    expect((await api.delete(`/api/tools/${tool.body.id as string}`)).status).toBe(200);
    await fillTo(0.3, null);
    expect([await inLarge(), await inOther()]).toEqual([SERVED, SERVED]);
    await fillTo(0.71, 'everything that adds data is refused');
    expect([await inLarge(), await inOther()]).toEqual([[503], [503]]);
  });
});

describe('with a heap of 96 MiB', () => {
  const DAY_MS = 24 * 60 * 60 * 1000;
  /** Two bytes a character in memory: 8 KiB a message, and as much in its event. */
  const TEXT = 'ж'.repeat(4096);
  const FLOODERS = 4;
  const CHATS = 10;
  let service: ServiceProcess | null = null;
  afterEach(() => service?.close());

  it('a workspace that adds all it can hinders no other, before a kill and after it, and costs the other no visitor', async () => {
    const [large, small, keys]: [string[], string[], string[]] = [[], [], []];
    const prepare = async (env: Storage['env']) => {
      const store = await openStoreOf(env);
      const agent = { quietMs: 0, approvalExpiresMs: 1 };
      const deps = testDeps({ store, agent, clock: { now: () => new Date(Date.now() - DAY_MS) } });
      const visit = async (workspace: Workspace, text: string) => {
        const nobody = { name: null, email: null, phone: null };
        const { token, contact } = await startChatSession(deps, workspace, nobody);
        const message = { text, channelMessageId: 'c' };
        const { conversationId } = await receiveMessage(deps, workspace, contact.id, message);
        return { token, conversationId };
      };
      const demo = await createWorkspace(deps, 'demo');
      const other = await createWorkspace(deps, 'Other');
      for (const workspace of [demo, other])
        keys.push((await createApiKey(deps, workspace, { name: 'test', createdBy: 'test' })).key);
      const fill = async () => {
        const { conversationId } = await visit(demo, TEXT);
        large.push(conversationId);
        const send = () =>
          sendMessage(deps, demo, conversationId, TEXT, { type: 'api', name: 'test' });
        for (let j = 0; j < 18; j += 1) await Promise.all(Array.from({ length: 30 }, send));
      };
      await Promise.all(Array.from({ length: FLOODERS }, fill));
      for (let i = 0; i < 50; i += 1) small.push((await visit(other, 'Never answered')).token);
      await store.close();
    };
    service = await startServiceProcess({
      env: { NODE_OPTIONS: '--max-old-space-size=96' },
      prepare,
    });
    const { url, logFile } = service;
    const [flooder, other] = keys.map((key) => apiClient(url, key)) as [ApiClient, ApiClient];

    let isOver = false;
    const taken: string[] = [];
    let refused = 0;
    const flood = async (conversation: string) => {
      while (!isOver) {
        const { status, body } = await flooder.post(`/api/conversations/${conversation}/messages`, {
          text: TEXT,
        });
        if (status === 201) taken.push(body.id as string);
        else {
          expect([status, body.error.message]).toEqual([503, expect.stringMatching(REFUSED)]);
          refused += 1;
          await sleep(20);
        }
      }
    };
    /** Chats in the other workspace, while the largest floods the service and is refused. */
    const others = async () => {
      const flooding = large.map(flood);
      try {
        await waitFor('the largest to be refused', () => refused > 20, { timeoutMs: 60_000 });
        for (let i = 0; i < CHATS; i += 1) expect(await chat(url, other, 'other')).toEqual(SERVED);
      } finally {
        isOver = true;
        await Promise.all(flooding);
      }
      for (const token of small)
        expect((await apiClient(url, token).get('/api/chat/messages')).status).toBe(200);
    };
    await others();
    expect(taken.length).toBeGreaterThan(50);
    const log = await readFile(logFile, 'utf8');
    expect(log).toContain('"workspace":"demo","percent":9');
    expect(log).not.toContain('"workspace":"other"');

    await service.crashAndRestart();
    [isOver, refused] = [false, 0];
    await others();
  }, 150_000);
});
