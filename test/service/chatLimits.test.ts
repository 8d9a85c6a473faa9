import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import express from 'express';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../service/src/domain/clock.ts';
import type { ServiceStore } from '../../service/src/domain/collections.ts';
import type { Deps } from '../../service/src/domain/deps.ts';
import { newId } from '../../service/src/domain/ids.ts';
import type { Message } from '../../service/src/domain/message.ts';
import { createWorkspace } from '../../service/src/domain/operations/createWorkspace.ts';
import { startChatSession } from '../../service/src/domain/operations/startChatSession.ts';
import { requireChatToken } from '../../service/src/http/authentication.ts';
import { followChatMessages } from '../../service/src/http/chatFeed.ts';
import { handleErrors } from '../../service/src/http/errors.ts';
import { chatStreamRouter, type ChatStreamSettings } from '../../service/src/http/routes/chatStream.ts';
import { apiClient, chatCustomer } from '../helpers/apiClient.ts';
import { readChatStream } from '../helpers/chatStreamReader.ts';
import { openFreshStore, type FreshStore } from '../helpers/openStore.ts';
import { startTestService, type TestService } from '../helpers/service.ts';
import { listenTracked, type TrackedServer } from '../helpers/trackedServer.ts';
import { waitFor } from '../helpers/waitFor.ts';

describe('a limit of 5 requests a minute', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ env: { CHAT_RATE_LIMIT_PER_MINUTE: '5' } });
  });
  afterAll(() => service?.stop());

  const arriveFrom = (address: string) => apiClient(service.url, null).post('/api/chat/sessions', {}, { 'x-forwarded-for': address });
  const statusesFrom = async (addresses: readonly string[]) => {
    const statuses: number[] = [];
    for (const address of addresses) statuses.push((await arriveFrom(address)).status);
    return statuses;
  };

  it('holds for each visitor, over messages, history and streams together, and not for others', async () => {
    const [{ body: one }, { body: two }] = [await arriveFrom('192.0.2.1'), await arriveFrom('192.0.2.2')];
    const api = apiClient(service.url, one.token);
    for (let n = 0; n < 4; n++) expect((await api.post('/api/chat/messages', { text: 'x', client_message_id: `${n}` })).status).toBe(202);
    expect((await api.get('/api/chat/messages')).status).toBe(200);
    const refused = await api.post('/api/chat/messages', { text: 'x', client_message_id: '5' });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const stream = await readChatStream(service.url, one.token);
    expect(stream.response.status).toBe(429);
    expect(stream.response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await apiClient(service.url, two.token).get('/api/chat/messages')).status).toBe(200);
  });

  it('holds for new visitors of one address', async () => {
    expect(await statusesFrom(Array(6).fill('192.0.2.3'))).toEqual([201, 201, 201, 201, 201, 429]);
    expect(await statusesFrom(['192.0.2.4', '::ffff:192.0.2.3'])).toEqual([201, 429]);
  });

  it('takes all of an IPv6 visitor’s addresses for one', async () => {
    expect(await statusesFrom([1, 2, 3, 4, 5, 6].map((n) => `2001:db8:1:1:${n}::${n}`))).toEqual([201, 201, 201, 201, 201, 429]);
    expect(await statusesFrom(['2001:db8:1:2::1'])).toEqual([201]);
  });
});

describe('streams of the service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  it('has at most 8 for a visitor: the oldest ends in order, and comes back a minute later', async () => {
    const [customer, other] = [await chatCustomer(service.url), await chatCustomer(service.url)];
    const others = await readChatStream(service.url, other.token);
    const streams = [];
    for (let n = 0; n < 9; n++) streams.push(await readChatStream(service.url, customer.token));
    const [oldest, ...rest] = streams;
    expect(await oldest!.ended).toBe(true);
    expect(oldest!.retries).toEqual([1000, 60_000]);
    await customer.write('for all');
    await other.write('for the other');
    for (const each of rest) await waitFor('the message', () => each.seen.length === 1);
    await waitFor('the other', () => others.seen.length === 1);
    expect(oldest!.seen).toEqual([]);
    for (const each of [...rest, others]) each.close();
  });

  it('counts a stream no more once its reader has left', async () => {
    const customer = await chatCustomer(service.url);
    const stays = await readChatStream(service.url, customer.token);
    for (let n = 0; n < 20; n++) {
      const passing = await readChatStream(service.url, customer.token);
      passing.close();
      await passing.ended;
    }
    await customer.write('still there');
    await waitFor('the message', () => stays.seen.length === 1);
    stays.close();
  });
});

describe('streams, with limits of the test’s own', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let deps: Pick<Deps, 'store' | 'clock'>;
  let server: TrackedServer;
  let stopping: AbortController;

  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    deps = { store, clock: systemClock };
    stopping = new AbortController();
  });
  afterEach(async () => {
    stopping.abort();
    await server?.close();
    await fresh.remove();
  });

  /** The route as the service has it, with its token check and its errors. */
  async function serveStreams(settings: ChatStreamSettings): Promise<string> {
    const app = express();
    app.use('/api/chat', requireChatToken(deps as Deps));
    app.use('/api', chatStreamRouter(deps, followChatMessages(store, stopping.signal), stopping.signal, settings));
    app.use(handleErrors);
    const listening: Server = createServer(app);
    server = await listenTracked(listening, 0, '127.0.0.1');
    return `http://127.0.0.1:${server.port}`;
  }
  const arrive = async () => {
    const workspace = (await store.transaction((tx) => tx.workspaces.find({ where: {}, limit: 1 })))[0] ?? (await createWorkspace(deps, 'Test'));
    return startChatSession(deps as Deps, workspace, { name: null, email: null, phone: null });
  };

  it('refuses one too many in all, and takes it once another has ended', async () => {
    const url = await serveStreams({ perKey: 2, inAll: 3, beatMs: 15_000 });
    const visitors = [await arrive(), await arrive(), await arrive()];
    const open = [];
    for (const { token } of [visitors[0]!, visitors[0]!, visitors[1]!]) open.push(await readChatStream(url, token));
    const refused = await readChatStream(url, visitors[2]!.token);
    expect(refused.response.status).toBe(503);
    expect(refused.response.headers.get('retry-after')).toBe('30');
    // Who has as many as allowed changes one for another.
    const another = await readChatStream(url, visitors[0]!.token);
    expect(another.response.status).toBe(200);
    expect(await open[0]!.ended).toBe(true);
    open[2]!.close();
    await waitFor('a free place', async () => {
      const stream = await readChatStream(url, visitors[2]!.token);
      stream.close();
      return stream.response.status === 200;
    });
  });

  it('beats, so that a quiet connection is known to live', async () => {
    const url = await serveStreams({ perKey: 2, inAll: 3, beatMs: 30 });
    const { token } = await arrive();
    const response = await fetch(`${url}/api/chat/stream`, { headers: { authorization: `Bearer ${token}` } });
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if ((text.match(/^: beat$/gm) ?? []).length >= 3) break;
    }
    expect(text).toMatch(/^retry: 1000\n\n(: beat\n\n){3,}$/);
  });

  it('lets go of a reader who takes nothing any more', async () => {
    await serveStreams({ perKey: 2, inAll: 3, beatMs: 100 });
    const { token, contact } = await arrive();
    await writeHistory(contact.id, 6000);
    const reader: Socket = connect(server.port, '127.0.0.1');
    reader.on('error', () => {});
    reader.write(`GET /api/chat/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await new Promise((resolve) => reader.once('readable', resolve)); // it looks, and takes nothing
    await waitFor('the end of its connection', () => server.openSockets === 0);
    reader.destroy();
    await server.close();
    // On a busy machine even one who reads may take nothing for a tenth of a second.
    const next = await readChatStream(await serveStreams({ perKey: 2, inAll: 3, beatMs: 15_000 }), token);
    await waitFor('everything, for one who reads', () => next.seen.length === 6000, { timeoutMs: 25_000 });
    next.close();
  });

  /** More than the system keeps for a reader who does not read. */
  const writeHistory = (contactId: string, count: number) =>
    store.transaction(async (tx) => {
      const conversationId = newId('conv');
      await tx.conversations.put({ id: conversationId, contactId, workspaceId: 'w' } as never);
      for (let number = 1; number <= count; number++) {
        await tx.messages.put({ id: newId('msg'), workspaceId: 'w', conversationId, contactId, number, direction: 'outbound', sender: { type: 'api', name: '' }, text: 'x'.repeat(4000), channelMessageId: null, createdAt: '2026-11-21T10:00:00.000+00:00' } as Message);
      }
    });
});
