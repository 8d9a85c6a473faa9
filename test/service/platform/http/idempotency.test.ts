import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';
import { chatCustomer } from '../../../helpers/apiClient.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';

const realLookup = dns.lookup;
/** Replaces how the service looks names up. */
const useLookup = (lookup: unknown) => {
  Object.assign(dns, { lookup });
  syncBuiltinESMExports();
};

const SUBSCRIPTION = { event: 'message.sent', target_url: 'https://127.0.0.1:9/x' };
const TOOL = {
  name: 'find_order',
  description: 'Finds an order',
  kind: 'Webhook',
  parameters: { type: 'object' },
  endpoint: 'https://127.0.0.1:9/x',
};

describe('Idempotency-Key', () => {
  let service: TestService;
  let path: string;
  let skewMs = 0;
  beforeAll(async () => {
    service = await startTestService({ clock: { now: () => new Date(Date.now() + skewMs) } });
  });
  beforeEach(async () => {
    skewMs = 0;
    const { conversation_id } = await (await chatCustomer(service.url)).write('hello');
    path = `/api/conversations/${conversation_id}`;
  });
  afterAll(async () => {
    useLookup(realLookup);
    await service?.stop();
  });

  const send = (text: string, key: string) =>
    service.api.post(`${path}/messages`, { text }, { 'idempotency-key': key });
  const count = async () => (await service.api.get(path)).body.message_count;

  it('gives the first answer again for the same key and body', async () => {
    const first = await send('once', 'k1');
    const second = await send('once', 'k1');
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(await count()).toBe(2);
  });

  it('refuses the same key with another body, and keeps the first answer', async () => {
    const first = await send('once', 'k2');
    expect(await send('twice', 'k2')).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused' } },
    });
    expect((await send('once', 'k2')).body).toEqual(first.body);
  });

  it('waits while the same call is running: twenty at once create one message', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('once', 'k3')));
    expect(new Set(answers.map(({ body }) => body.message.id)).size).toBe(1);
    expect(await count()).toBe(2);
  });

  it('allows the same key on another path', async () => {
    await send('here', 'k4');
    const other = await (await chatCustomer(service.url)).write('hello');
    const answer = await service.api.post(
      `/api/conversations/${other.conversation_id}/messages`,
      { text: 'there' },
      { 'idempotency-key': 'k4' },
    );
    expect(answer.status).toBe(201);
    expect(answer.body.conversation.id).toBe(other.conversation_id);
  });

  it('does not remember a refusal: once its cause is gone, the repeat runs', async () => {
    const link = { amount: 100, currency: 'EUR', description: 'Deposit' };
    const create = (body: unknown) =>
      service.api.post(`${path}/payment-links`, body, { 'idempotency-key': 'k5' });
    expect(await create(link)).toMatchObject({
      status: 409,
      body: { error: { code: 'payment_provider_missing' } },
    });
    await service.api.put('/api/payment-accounts/manual', {
      settings: { instructions: 'Pay at the desk' },
    });
    const corrected = { ...link, amount: 200 };
    const first = await create(corrected);
    expect(first.status).toBe(201);
    expect((await create(corrected)).body).toEqual(first.body);
  });

  it.each([
    ['a field of the contract', '/api/tools/tool_1/go-live', 'arguments'],
    ['a field that is ignored', '/api/conversations/conv_1/messages', 'unknown'],
  ])('refuses JSON that is nested without end, in %s', async (_what, to, field) => {
    const deep = `{"text":"hello","${field}":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    const refusal = await service.api.post(to, deep, { 'idempotency-key': 'deep' });
    expect(refusal).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'invalid_request',
          message: expect.stringContaining('must not be nested deeper than 100 levels'),
        },
      },
    });
  });

  it('survives a restart, and is forgotten after 24 hours', async () => {
    const first = await send('once', 'k6');
    await service.restart();
    expect((await send('once', 'k6')).body).toEqual(first.body);
    skewMs = 24 * 3_600_000 + 1000;
    expect((await send('once', 'k6')).body.message.id).not.toBe(first.body.message.id);
  });

  it('refuses a key of more than 255 characters', async () => {
    expect(await send('x', 'y'.repeat(256))).toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
  });

  it('is refused where the answer shows a secret', async () => {
    const header = { 'idempotency-key': 'k7' };
    const creation = await service.api.post('/api/hooks', SUBSCRIPTION, header);
    expect(creation).toMatchObject({
      status: 400,
      body: { error: { code: 'idempotency_key_not_allowed' } },
    });
    expect((await service.api.get('/api/hooks')).body.data).toEqual([]);
  });

  it.each([
    ['/api/hooks', SUBSCRIPTION, 'target_url'],
    ['/api/tools', TOOL, 'endpoint'],
  ])(
    'holds up no other call while a host name is slow to look up: PATCH %s',
    async (to, fields, field) => {
      const { status, body } = await service.api.post(to, fields);
      expect(status).toBe(201);
      const asked = Promise.withResolvers<undefined>();
      const answered = Promise.withResolvers<undefined>();
      useLookup(async () => {
        asked.resolve(undefined);
        await answered.promise;
        return [{ address: '127.0.0.1', family: 4 }];
      });
      const key = { 'idempotency-key': 'k8' };
      const change = () =>
        service.api.call('PATCH', `${to}/${body.id}`, { [field]: 'https://slow.test/' }, key);
      const slow = change();
      await asked.promise;
      const quick = send('meanwhile', `k8${to}`).then(() => 'the other call');
      expect(await Promise.race([quick, slow])).toBe('the other call');
      answered.resolve(undefined);
      expect((await change()).body).toEqual((await slow).body);
    },
  );

  it('gives the first answer even when an address cannot be looked up any more', async () => {
    useLookup(async () => [{ address: '127.0.0.1', family: 4 }]);
    const wait = { kind: 'decision', message: 'Refund?', resume_url: 'https://n8n.test/' };
    const open = () => service.api.post('/api/waits', wait, { 'idempotency-key': 'k9' });
    const first = await open();
    expect(first.status).toBe(201);
    useLookup(() => Promise.reject(Object.assign(new Error('none'), { code: 'EAI_AGAIN' })));
    expect(await open()).toMatchObject({ status: 201, body: first.body });
  });
});
