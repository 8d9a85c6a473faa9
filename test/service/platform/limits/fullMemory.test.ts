// What is refused and what passes while the memory for stored data is full.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { apiClient, type ApiClient } from '../../../helpers/apiClient.ts';
import { HeapAt } from '../../../helpers/heapAt.ts';
import { boundReached, readMetrics } from '../../../helpers/metrics.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { fillMemory, readiness } from './fillMemory.ts';

describe('while stored data fills the memory', () => {
  let heap: HeapAt;
  let service: TestService;
  let visitor: ApiClient;
  let conversation: string;
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  beforeEach(async () => {
    lines.length = 0;
    heap = new HeapAt();
    service = await startTestService({ store: { heap }, log });
    const session = await arrive();
    visitor = apiClient(service.url, session.body.token as string);
    conversation = (await write('Hello')).body.conversation_id as string;
  });
  afterEach(() => service.stop());

  let written = 0;
  const write = (text: string) =>
    visitor.post('/api/chat/messages', { text, client_message_id: `c${(written += 1)}` });
  const arrive = () => apiClient(service.url, null).post('/api/chat/sessions', {});
  const reply = () =>
    service.api.post(`/api/conversations/${conversation}/messages`, { text: 'Yes.' });
  const fillTo = (share: number, refuses: string | null) =>
    fillMemory(heap, service.url, share, refuses);

  it('at the first mark, new visitors are refused, and those already here go on', async () => {
    await fillTo(0.66, 'new chats are refused');
    const refused = await arrive();
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '10',
    ]);
    expect(refused.body.error.message).toMatch(
      /^The memory of the service is full: new chats cannot begin until there is room\. Try again later/,
    );
    expect((await write('Are you there?')).status).toBe(202);
    expect((await reply()).status).toBe(201);
    expect(await boundReached(service.url, 'memory_visitors')).toBe(1);
    // The bound is logged once an hour and its requests never: strangers could fill the disk.
    expect(lines.filter((line) => line.includes('memory_visitors'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('"status":503'))).toEqual([]);
  });

  it('at the second mark, requests that add data are refused before their body is read; those that end, decide, read or remove pass', async () => {
    const channel = await service.api.post('/api/channels', {
      type: 'whatsapp_cloud',
      name: 'Shop',
      settings: {
        phone_number_id: '106540352242922',
        access_token: 'token',
        app_secret: '0123456789abcdef0123456789abcdef',
      },
    });
    const tool = await service.api.post('/api/tools', {
      name: 'look_up',
      description: 'Looks up',
      parameters: { type: 'object' },
      kind: 'Webhook',
      endpoint: 'https://127.0.0.1/x',
      timeout: 5,
    });
    expect([channel.status, tool.status]).toEqual([201, 201]);
    await fillTo(0.71, 'everything that adds data is refused');

    const refused = {
      visitor: await arrive(),
      message: await write('More'),
      reply: await reply(),
      subscription: await service.api.post('/api/hooks', {
        event: 'message.sent',
        target_url: 'https://127.0.0.1/hook',
      }),
      tool: await service.api.post('/api/tools', { name: 'other' }),
      paymentLink: await service.api.post(`/api/conversations/${conversation}/payment-links`, {}),
      channel: await service.api.post('/api/channels', {}),
      noJson: await service.api.call('POST', '/api/tools', '{'),
    };
    for (const [what, { status, body, headers }] of Object.entries(refused))
      expect([what, status, body.error.code, headers.get('retry-after')]).toEqual([
        what,
        503,
        'unavailable',
        '10',
      ]);
    const webhookPath = `/api/channels/whatsapp_cloud/webhook/${channel.body.id as string}`;
    const webhook = await fetch(service.url + webhookPath, { method: 'POST', body: '{}' });
    expect([webhook.status, webhook.headers.get('retry-after')]).toEqual([503, '10']);
    const join = await fetch(`${service.url}/Join`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'x' }),
    });
    expect([join.status, await join.text()]).toEqual([
      503,
      expect.stringContaining('The memory of the service is full'),
    ]);
    const sendLink = `/conversations/${conversation}/payments/pay_1/send`;
    expect((await fetch(service.url + sendLink, { method: 'POST' })).status).toBe(503);

    const closing = { verdict: 'goal_reached', summary: 'Done.' };
    const passed = [
      await visitor.get('/api/chat/messages'),
      await service.api.post(`/api/conversations/${conversation}/takeover`, {}),
      await service.api.post(`/api/conversations/${conversation}/close`, closing),
      await service.api.get('/api/conversations'),
      await service.api.delete(`/api/tools/${tool.body.id as string}`),
      await service.api.delete(`/api/channels/${channel.body.id as string}`),
    ];
    expect(passed.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const signIn = await fetch(`${service.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'a@example.com', password: 'wrong-password' }),
    });
    expect(signIn.status).not.toBe(503);
  });

  it('/readyz stays 200, since the team has to get in to make room, and says what to do; all requests are accepted again once there is room', async () => {
    expect(await readiness(service.url)).toMatchObject({ status: 200, body: { status: 'ready' } });
    await fillTo(0.71, 'everything that adds data is refused');
    const { status, body } = await readiness(service.url);
    expect([status, body.status]).toEqual([200, 'ready']);
    expect(body.warnings).toContainEqual(
      expect.stringMatching(
        /^The stored data takes 710 of the 1000 MiB .*65 %.*70 %.*CONVERSATION_RETENTION_DAYS.*--max-old-space-size.*PostgreSQL\.$/,
      ),
    );
    const metrics = await readMetrics(service.url);
    const names = ['live_bytes', 'limit_bytes', 'visitors_mark_bytes', 'mark_bytes'].map(
      (name) => metrics.value(`conversation_service_store_memory_${name}`)! / 2 ** 20,
    );
    expect(names.map(Math.round)).toEqual([710, 1000, 650, 700]);
    await fillTo(0.5, null);
    expect([(await arrive()).status, (await write('More')).status]).toEqual([201, 202]);
  });
});
