import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import express from 'express';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock, timestamp } from '../../../../service/src/platform/clock.ts';
import type { ServiceStore } from '../../../../service/src/store/collections.ts';
import type { Deps } from '../../../../service/src/platform/deps.ts';
import { newId } from '../../../../service/src/platform/ids.ts';
import type { Message } from '../../../../service/src/conversations/message.ts';
import { createWorkspace } from '../../../../service/src/team/operations/team.ts';
import { startChatSession } from '../../../../service/src/channels/web_chat/chatOperations.ts';
import { requireChatToken } from '../../../../service/src/channels/web_chat/requireChatToken.ts';
import { followChats } from '../../../../service/src/channels/web_chat/chatFeed.ts';
import { handleErrors } from '../../../../service/src/platform/http/errors.ts';
import {
  CHAT_STREAMS,
  chatStreamRouter,
  type ChatStreamSettings,
} from '../../../../service/src/channels/web_chat/stream.ts';
import type { BoundName } from '../../../../service/src/platform/limits/bounds.ts';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { readChatStream } from '../../../helpers/chatStreamReader.ts';
import { openFreshStore, type FreshStore } from '../../../helpers/openStore.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { listenTracked, type TrackedServer } from '../../../helpers/trackedServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';

/** So many messages of 16,000 characters do not fit into the buffers of an unread socket. */
const HISTORY = 1500;

describe('the stream route', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service?.stop());

  it('allows a visitor three streams: a fourth ends the oldest, which is told to reconnect in a minute', async () => {
    const [customer, other] = [await chatCustomer(service.url), await chatCustomer(service.url)];
    const others = await readChatStream(service.url, other.token);
    const streams = [];
    for (let n = 0; n < 4; n++) streams.push(await readChatStream(service.url, customer.token));
    const [oldest, ...rest] = streams;
    expect(await oldest!.ended).toBe(true);
    expect(oldest!.retries).toEqual([1000, 60_000]);
    await customer.write('for the three');
    await other.write('for the other');
    for (const each of rest) await waitFor('the message', () => each.seen.length === 1);
    await waitFor('the other', () => others.seen.length === 1);
    expect(oldest!.seen).toEqual([]);
    for (const each of [...rest, others]) each.close();
  });

  it('stops counting a stream when its client has left', async () => {
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

describe('the stream route, with limits of the test’s own', () => {
  let fresh: FreshStore;
  let store: ServiceStore;
  let deps: Pick<Deps, 'store' | 'clock' | 'bounds'>;
  let reached: BoundName[];
  let server: TrackedServer;
  let stopping: AbortController;

  beforeEach(async () => {
    fresh = await openFreshStore();
    ({ store } = fresh);
    reached = [];
    deps = { store, clock: systemClock, bounds: { reached: (bound) => reached.push(bound) } };
    stopping = new AbortController();
  });
  afterEach(async () => {
    stopping.abort();
    await server?.close();
    await fresh.remove();
  });

  /** Serves the route as the service does, with its token check and its errors. */
  async function serveStreams(settings: ChatStreamSettings): Promise<string> {
    const app = express();
    app.set('trust proxy', true);
    app.use('/api/chat', requireChatToken(deps as Deps));
    app.use(
      '/api',
      chatStreamRouter(deps, followChats(store, stopping.signal), stopping.signal, settings),
    );
    app.use(handleErrors);
    const listening: Server = createServer(app);
    server = await listenTracked(listening, 0, '127.0.0.1');
    return `http://127.0.0.1:${server.port}`;
  }
  const arrive = async (name = 'Test') => {
    const all = await store.transaction((tx) => tx.workspaces.find({ where: {}, limit: 10 }));
    const workspace = all.find((each) => each.name === name) ?? (await createWorkspace(deps, name));
    return startChatSession(deps as Deps, workspace, { name: null, email: null, phone: null });
  };

  const limits = (some: Partial<ChatStreamSettings>): ChatStreamSettings => ({
    ...CHAT_STREAMS,
    inAll: 100,
    ...some,
  });
  /** Waits until a stream that was refused is accepted. */
  const waitForRoom = (url: string, token: string) =>
    waitFor('room for a stream', async () => {
      const stream = await readChatStream(url, token);
      stream.close();
      return stream.response.status === 200;
    });
  /** A client that asks for its stream and reads nothing. */
  const connectSilently = (token: string): Socket => {
    const client = connect(server.port, '127.0.0.1').on('error', () => {});
    client.write(
      `GET /api/chat/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    return client;
  };
  const openAll = async (url: string, tokens: readonly string[]) => {
    const open = [];
    for (const token of tokens) open.push(await readChatStream(url, token));
    return open;
  };

  it('refuses a workspace more than half of all streams, and leaves room for other workspaces', async () => {
    const url = await serveStreams(limits({ perOwner: 2, inAll: 6 }));
    const [one, two, three] = [await arrive(), await arrive(), await arrive()];
    const open = await openAll(url, [one.token, one.token, two.token]);
    const refused = await readChatStream(url, three.token);
    expect(refused.response.status).toBe(503);
    expect(refused.response.headers.get('retry-after')).toBe('30');
    expect(reached).toEqual(['workspace_streams']);
    const guests = await openAll(url, [
      (await arrive('Other')).token,
      (await arrive('Third')).token,
    ]);
    expect(guests.map(({ response }) => response.status)).toEqual([200, 200]);
    // A visitor with two of two streams may still open another: it replaces their oldest.
    const another = await readChatStream(url, one.token);
    expect(another.response.status).toBe(200);
    expect(await open[0]!.ended).toBe(true);
    for (const each of [...guests, open[2]!]) each.close();
    await waitForRoom(url, three.token);
  });

  it('refuses an address a fourth stream, and allows it once another has ended', async () => {
    const url = await serveStreams(limits({ perOwner: 2, perAddress: 3 }));
    const [one, two, three] = [await arrive(), await arrive(), await arrive()];
    const open = await openAll(url, [one.token, one.token, two.token]);
    const refused = await readChatStream(url, three.token);
    expect(refused.response.status).toBe(429);
    expect(refused.response.headers.get('retry-after')).toBe('30');
    expect(reached).toEqual(['address_streams']);
    const elsewhere = await readChatStream(url, three.token, {
      headers: { 'x-forwarded-for': '192.0.2.1' },
    });
    expect(elsewhere.response.status).toBe(200);
    // It replaces the oldest of the same visitor at the same address, so it needs no more room.
    const replacing = await readChatStream(url, one.token);
    expect(replacing.response.status).toBe(200);
    expect(await open[0]!.ended).toBe(true);
    replacing.close();
    await waitForRoom(url, three.token);
  });

  it('does not count a stream whose client left before it began', async () => {
    const checked = Promise.withResolvers<undefined>();
    const checking = Promise.withResolvers<undefined>();
    const spend = () => {
      checking.resolve(undefined);
      return checked.promise;
    };
    const url = await serveStreams(limits({ inAll: 2, readBytes: { spend } }));
    const [left, other] = [await arrive(), await arrive()];
    const client = connectSilently(left.token);
    await checking.promise;
    client.destroy();
    await waitFor('the end of its connection', () => server.openSockets === 0);
    checked.resolve(undefined);
    const stream = await readChatStream(url, other.token);
    expect(stream.response.status).toBe(200);
    stream.close();
  });

  it('sends a comment line now and then, so that a quiet connection stays open', async () => {
    const url = await serveStreams(limits({ beatMs: 30 }));
    const { token } = await arrive();
    const response = await fetch(`${url}/api/chat/stream`, {
      headers: { authorization: `Bearer ${token}` },
    });
    let text = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if ((text.match(/^: beat$/gm) ?? []).length >= 3) break;
    }
    expect(text).toMatch(/^retry: 1000\n\n(: beat\n\n){3,}$/);
  });

  it('closes the connection of a client that stops reading', async () => {
    await serveStreams(limits({ beatMs: 100 }));
    const { token, contact } = await arrive();
    await writeHistory(contact.id);
    const client = connectSilently(token);
    await new Promise((resolve) => client.once('readable', resolve)); // data is there, and is not read
    await waitFor('the end of its connection', () => server.openSockets === 0);
    client.destroy();
    await server.close();
    // Without the short beat: on a busy machine, a client that reads may miss one of 100 ms.
    const next = await readChatStream(await serveStreams(limits({})), token);
    await waitFor('the whole history, for a client that reads', () => next.seen.length === HISTORY);
    next.close();
  });

  it('says that the typing has ended, even when a message of the customer comes with the end', async () => {
    const url = await serveStreams(limits({}));
    const { token, contact } = await arrive();
    const conversationId = newId('conv');
    const until = timestamp(new Date(Date.now() + 60_000));
    await store.transaction(async (tx) => {
      const conversation = { id: conversationId, contactId: contact.id, workspaceId: 'w' };
      await tx.conversations.put({ ...conversation, status: 'ai_active' } as never);
      await tx.typings.put({ id: contact.id, workspaceId: 'w', conversationId, until });
    });
    const stream = await readChatStream(url, token);
    await waitFor('typing', () => stream.told.length === 1);
    await store.transaction(async (tx) => {
      await tx.typings.delete(contact.id);
      await tx.messages.put({
        ...messageOf(contact.id, conversationId, 1, 'Never mind.'),
        direction: 'inbound',
        sender: { type: 'customer', name: '' },
      });
    });
    await waitFor('the end of the typing', () => stream.told.length === 3);
    expect(stream.told).toEqual(['typing', 'Never mind.', 'not typing']);
    stream.close();
  });

  const messageOf = (contactId: string, conversationId: string, number: number, text: string) =>
    ({
      id: newId('msg'),
      workspaceId: 'w',
      conversationId,
      contactId,
      number,
      direction: 'outbound',
      sender: { type: 'api', name: '' },
      text,
      channelMessageId: null,
      createdAt: timestamp(new Date()),
    }) satisfies Message;
  const writeHistory = (contactId: string) =>
    store.transaction(async (tx) => {
      const conversationId = newId('conv');
      await tx.conversations.put({ id: conversationId, contactId, workspaceId: 'w' } as never);
      for (let number = 1; number <= HISTORY; number++)
        await tx.messages.put(messageOf(contactId, conversationId, number, 'x'.repeat(16_000)));
    });
});
