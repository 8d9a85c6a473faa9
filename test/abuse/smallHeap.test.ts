// The built service with a small heap: visitors write until it refuses, then it is killed and
// started again with the same heap.
import { testDeps } from '../helpers/testDeps.ts';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import type { Deps } from '../../service/src/platform/deps.ts';
import { createApiKey } from '../../service/src/team/operations/apiKeys.ts';
import { createWorkspace } from '../../service/src/team/operations/team.ts';
import { receiveMessage } from '../../service/src/conversations/operations/receiveMessage.ts';
import { sendMessage } from '../../service/src/conversations/operations/sendMessage.ts';
import { startChatSession } from '../../service/src/channels/web_chat/chatOperations.ts';
import type { Workspace } from '../../service/src/team/workspace.ts';
import { apiClient, readWholeChat, type ApiClient } from '../helpers/apiClient.ts';
import { openStoreOf } from '../helpers/openStore.ts';
import { startServiceProcess, type ServiceProcess } from '../helpers/serviceProcess.ts';
import type { Storage } from '../helpers/storage.ts';
import { waitFor } from '../helpers/waitFor.ts';

const HEAP_MIB = 108;
/** Takes two bytes a character in memory: 8 KiB a message. */
const TEXT = 'ж'.repeat(4096);
/** So many that the stored data is over the first mark at the start. */
const UNANSWERED = 2000;
const ANSWERED = 20;
const MESSAGES_OF_ANSWERED = 110;
const VISITORS = 8;
const DAY_MS = 24 * 60 * 60 * 1000;

let service: ServiceProcess | null = null;
afterEach(() => service?.close());

it('refuses what adds data and keeps running: it removes visitors who were never answered, survives a flood of bodies and a kill, and loses no message of a visitor who was answered', async () => {
  let key = '';
  const answered: string[] = [];
  const unanswered: string[] = [];
  const prepare = async (env: Storage['env']) => {
    const store = await openStoreOf(env);
    const agent = { quietMs: 0, approvalExpiresMs: 1 };
    const deps = testDeps({ store, agent, clock: { now: () => new Date(Date.now() - DAY_MS) } });
    const workspace = await createWorkspace(deps, 'demo');
    ({ key } = await createApiKey(deps, workspace, { name: 'test', createdBy: 'test' }));
    for (let i = 0; i < ANSWERED; i += 1) {
      const { token, conversation } = await visit(deps, workspace, MESSAGES_OF_ANSWERED);
      await sendMessage(deps, workspace, conversation, 'Hello', { type: 'api', name: 'test' });
      answered.push(token);
    }
    for (let i = 0; i < UNANSWERED; i += 100) {
      const hundred = Array.from({ length: 100 }, () => visit(deps, workspace));
      unanswered.push(...(await Promise.all(hundred)).map(({ token }) => token));
    }
    await store.close();
  };
  service = await startServiceProcess({
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
    prepare,
  });
  const { url, logFile } = service;
  const api = apiClient(url, key);
  const canRead = async (token: string) =>
    (await apiClient(url, token).get('/api/chat/messages')).status === 200;

  // The service makes room by removing visitors who were never answered, the oldest first.
  await waitFor(
    'room to be made',
    async () => (await readFile(logFile, 'utf8')).includes('everything is accepted again'),
    { timeoutMs: 30_000 },
  );
  for (const token of answered) expect(await canRead(token)).toBe(true);
  expect([await canRead(unanswered[0]!), await canRead(unanswered.at(-1)!)]).toEqual([false, true]);

  // Visitors who were answered write until the service can make no more room and refuses everything.
  const isFull = async () => {
    const newestLine = (await readFile(logFile, 'utf8'))
      .split('\n')
      .findLast((line) => line.includes('that the heap may hold'));
    return (
      !(await canRead(unanswered.at(-1)!)) && newestLine!.includes('all additions are refused')
    );
  };
  const visitors = await Promise.all(Array.from({ length: VISITORS }, () => arrive(url, api)));
  const acknowledged = await Promise.all(visitors.map((visitor) => writeUntil(isFull, visitor)));
  const { warnings } = (await (await fetch(`${url}/readyz`)).json()) as { warnings: string[] };
  expect(warnings.join()).toContain('everything that adds data is refused with 503');

  const body = JSON.stringify({ name: 'tool', description: 'x'.repeat(250_000) });
  const flood = await Promise.all(
    Array.from({ length: 200 }, () => api.post('/api/tools', body).then(({ status }) => status)),
  );
  expect(new Set(flood)).toEqual(new Set([503]));
  const path = `/api/conversations/${visitors[0]!.conversation}`;
  const closed = await api.post(`${path}/close`, { verdict: 'unknown', summary: 'Full.' });
  expect(closed.status).toBe(200);

  await service.crashAndRestart();
  for (const [i, { client }] of visitors.entries()) {
    const stored = new Set((await readWholeChat(client)).map(({ id }) => id));
    expect(stored.isSupersetOf(acknowledged[i]!)).toBe(true);
  }
  expect((await api.get(path)).body.status).toBe('closed');
  expect(acknowledged.reduce((sum, each) => sum + each.size, 0)).toBeGreaterThan(200);
}, 120_000);

/** Stores a visitor who wrote a day ago. */
async function visit(deps: Deps, workspace: Workspace, messages = 1) {
  const { token, contact } = await startChatSession(deps, workspace, {
    name: null,
    email: null,
    phone: null,
  });
  const received = await Promise.all(
    Array.from({ length: messages }, (_, i) =>
      receiveMessage(deps, workspace, contact.id, { text: TEXT, channelMessageId: `c${i}` }),
    ),
  );
  return { token, conversation: received[0]!.conversationId };
}

/** Makes a visitor who writes and is answered. */
async function arrive(url: string, api: ApiClient) {
  const session = await apiClient(url, null).post('/api/chat/sessions', {});
  const client = apiClient(url, session.body.token as string);
  const first = await client.post('/api/chat/messages', {
    text: 'Hello',
    client_message_id: 'first',
  });
  const conversation = first.body.conversation_id as string;
  expect(
    (await api.post(`/api/conversations/${conversation}/messages`, { text: 'Welcome' })).status,
  ).toBe(201);
  return { client, conversation };
}

/** Writes until the service is full. @returns the ids of the messages that it accepted */
async function writeUntil(
  isFull: () => Promise<boolean>,
  { client }: { client: ApiClient },
): Promise<Set<string>> {
  const accepted = new Set<string>();
  for (;;) {
    const { status, body } = await client.post('/api/chat/messages', {
      text: TEXT,
      client_message_id: `c${accepted.size}`,
    });
    if (status !== 202) {
      expect([status, body.error.code]).toEqual([503, 'unavailable']);
      if (await isFull()) return accepted;
      await sleep(100);
      continue;
    }
    accepted.add(body.message_id as string);
  }
}
