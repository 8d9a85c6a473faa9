import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  EMITTED_EVENTS,
  startEventReceiver,
  type EventReceiver,
} from '../../helpers/eventReceiver.ts';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { MEMBER_ENV, signedInBrowser } from '../../helpers/browserless.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { allDelivered, makeLink, newConversation, setUpManual } from '../payments/support.ts';

const DAY_MS = 86_400_000;

describe('CONVERSATION_RETENTION_DAYS', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let skewMs: number;
  beforeEach(async () => {
    skewMs = 0;
    receiver = await startEventReceiver();
    service = await startTestService({
      ca: receiver.ca,
      clock: { now: () => new Date(Date.now() + skewMs) },
      env: { ...MEMBER_ENV, CONVERSATION_RETENTION_DAYS: '7' },
      housekeepingEveryMs: 50,
    });
    // Without `receiver.subscribe`: it checks the times of signatures, which this test moves.
    for (const event of EMITTED_EVENTS)
      await service.api.post('/api/hooks', { event, target_url: `${receiver.url}/${event}` });
  });
  afterEach(async () => {
    await service.stop();
    await receiver.close();
  });

  const statusOf = async (path: string) => (await service.api.get(path)).status;
  const isGone = (id: string) =>
    waitFor(
      `${id} to be removed`,
      async () => (await statusOf(`/api/conversations/${id}`)) === 404,
    );
  const close = (id: string) =>
    service.api.post(`/api/conversations/${id}/close`, {
      summary: 'Done.',
      verdict: 'goal_reached',
    });

  it('removes conversations that nobody has touched for so many days, closed or open, and leaves the rest whole', async () => {
    const [back, silent, recent] = [
      await chatCustomer(service.url, { name: 'Ana' }),
      await chatCustomer(service.url, { email: 'silent@example.com' }),
      await chatCustomer(service.url),
    ];
    const first = (await back.write('an order, please')).conversation_id;
    await close(first);
    const open = (await silent.write('is somebody there?')).conversation_id;
    const kept = (await recent.write('one')).conversation_id;
    skewMs = 5 * DAY_MS;
    const second = (await back.write('me again')).conversation_id;
    await recent.write('two');
    await allDelivered(service);
    const emitted = receiver.requests.length;

    skewMs = 8 * DAY_MS;
    await isGone(first);
    await isGone(open);

    expect((await service.api.get(`/api/conversations/${second}`)).body).toMatchObject({
      previous_conversation_id: first,
      message_count: 1,
    });
    expect((await back.read()).map(({ text }) => text)).toEqual(['me again']);
    expect((await service.api.get(`/api/conversations/${kept}`)).body).toMatchObject({
      message_count: 2,
      messages: [{ text: 'one' }, { text: 'two' }],
    });
    const { data } = (await service.api.get('/api/conversations')).body;
    expect(data.map(({ id }: { id: string }) => id).sort()).toEqual([kept, second].sort());

    const actions = [
      ['messages', { text: 'hello?' }],
      ['takeover', {}],
      ['handback', {}],
      ['close', { summary: 'Done.', verdict: 'unknown' }],
      ['payment-links', { amount: 1, currency: 'usd', description: 'x' }],
    ] as const;
    for (const [action, body] of actions)
      expect(await service.api.post(`/api/conversations/${first}/${action}`, body)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    expect(
      (await service.api.post('/api/contacts/lookup', { email: 'silent@example.com' })).status,
    ).toBe(404);
    expect((await apiClient(service.url, silent.token).get('/api/chat/messages')).status).toBe(401);

    const browser = await signedInBrowser(service.url);
    expect((await browser.get(`/conversations/${first}`)).status).toBe(404);
    const later = await browser.get(`/conversations/${second}`);
    expect([later.status, later.html.includes('id="previous"')]).toEqual([200, false]);
    expect((await browser.get('/conversations')).html).not.toContain(open);

    await allDelivered(service);
    expect(receiver.requests.length).toBe(emitted);
  });

  it('keeps a conversation as long as its payment link can be paid, then removes it with the link', async () => {
    await setUpManual(service);
    const id = await newConversation(service);
    const link = await makeLink(service, id); // lasts 30 days
    await close(id);
    const other = await newConversation(service);
    skewMs = 20 * DAY_MS;
    await isGone(other);
    expect(
      (await service.api.post(`/api/payment-links/${link.id}/mark-paid`, {})).body,
    ).toMatchObject({ status: 'paid' });
    expect(await statusOf(`/api/conversations/${id}`)).toBe(200);
    skewMs = 28 * DAY_MS;
    await isGone(id);
    expect(await statusOf(`/api/payment-links/${link.id}`)).toBe(404);
    expect((await fetch(service.url + new URL(link.url).pathname)).status).toBe(404);
    expect((await service.api.get('/api/payment-links')).body.data).toEqual([]);
  });

  it('keeps a conversation in which a colleague has left a note since, then removes it', async () => {
    const [noted, other] = [await newConversation(service), await newConversation(service)];
    skewMs = 5 * DAY_MS;
    const text = 'Refund promised for Friday';
    await service.api.post(`/api/conversations/${noted}/notes`, { text });
    skewMs = 8 * DAY_MS;
    await isGone(other);
    const browser = await signedInBrowser(service.url);
    expect((await browser.get(`/conversations/${noted}`)).text).toContain(text);
    skewMs = 13 * DAY_MS;
    await isGone(noted);
  });

  it('lets a removed customer begin again', async () => {
    const id = await newConversation(service);
    skewMs = 8 * DAY_MS;
    await isGone(id);
    const again = await newConversation(service);
    expect((await service.api.get(`/api/conversations/${again}`)).body).toMatchObject({
      previous_conversation_id: null,
      contact: { name: 'Eva' },
    });
  });
});

describe('RETENTION_DAYS', () => {
  it('gives up deliveries that a receiver has not taken for so many days, so that they cannot fill the disk, and keeps conversations', async () => {
    let skewMs = 0;
    const receiver = await startEventReceiver(() => {}); // never answers
    const service = await startTestService({
      ca: receiver.ca,
      clock: { now: () => new Date(Date.now() + skewMs) },
      env: { RETENTION_DAYS: '1', DELIVERY_TIMEOUT_MS: '60000' },
      housekeepingEveryMs: 50,
    });
    try {
      const wanted = { event: 'message.received', target_url: receiver.url };
      const hook = (await service.api.post('/api/hooks', wanted)).body.id;
      const customer = await chatCustomer(service.url);
      let id = '';
      for (let n = 0; n < 10; n += 1) id = (await customer.write(`message ${n}`)).conversation_id;
      await waitFor('the first attempts', () => receiver.requests.length === 4);
      const waiting = async () =>
        (await service.api.get(`/api/hooks/${hook}/deliveries?status=pending`)).body.data.length;
      expect(await waiting()).toBe(10);
      skewMs = 0.9 * DAY_MS;
      await new Promise((resolve) => setTimeout(resolve, 200)); // some sweeps
      expect(await waiting()).toBe(10);
      skewMs = 1.1 * DAY_MS;
      await waitFor('the sweep', async () => (await waiting()) === 0);
      expect((await service.api.get(`/api/hooks/${hook}/deliveries`)).body.data).toEqual([]);
      expect((await service.api.get(`/api/conversations/${id}`)).body.message_count).toBe(10);
    } finally {
      await receiver.close(); // first: a stop waits for attempts that are under way
      await service.stop();
    }
  });
});
