import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { apiClient, chatCustomer } from '../../helpers/apiClient.ts';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  allDelivered,
  linkIn,
  makeLink,
  newConversation,
  paidEventsOf,
  readLink,
  requestLink,
  setUpManual,
  stageOf,
  subscribeToPayments,
} from './support.ts';

describe('a manual payment link', () => {
  let service: TestService;
  let receiver: EventReceiver;
  let conversationId: string;
  let skewMs = 0;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    service = await startTestService({
      ca: receiver.ca,
      clock: { now: () => new Date(Date.now() + skewMs) },
    });
    await setUpManual(service);
    await subscribeToPayments(receiver, service);
  });
  beforeEach(async () => {
    conversationId = await newConversation(service);
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
  });

  const markPaid = (id: string, body: unknown = {}) =>
    service.api.post(`/api/payment-links/${id}/mark-paid`, body);
  const cancel = (id: string) => service.api.post(`/api/payment-links/${id}/cancel`);
  const eventsOf = (id: string) =>
    receiver.payloads().filter(({ conversation }) => conversation.id === id);
  /** Tests share a clock: a test that moves it moves it back. */
  const later = async (ms: number, run: () => Promise<void>) => {
    skewMs = ms;
    await run().finally(() => (skewMs = 0));
  };

  it('is returned as it stands now to a repeat of the request that made it', async () => {
    const key = { 'idempotency-key': `manual-${conversationId}` };
    const create = () => requestLink(service, conversationId, {}, key);
    const { id } = (await create()).body;
    await markPaid(id);
    expect(await create()).toMatchObject({ status: 201, body: { id, status: 'paid' } });
  });

  it('is open at once, with its own page, and moves the funnel through qualified to payment_pending', async () => {
    const link = await makeLink(service, conversationId, {
      description: '  Demo, one hour ',
      currency: 'USD',
    });
    expect(link).toEqual({
      id: expect.stringMatching(/^pay_[0-9A-Z]{26}$/),
      conversation_id: conversationId,
      status: 'open',
      amount: 4900,
      currency: 'usd',
      amount_display: 'US$49.00',
      description: 'Demo, one hour',
      provider: 'manual',
      provider_reference: null,
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/pay\/[A-Za-z0-9_-]{32}$/),
      error: null,
      created_by: { type: 'api', name: expect.any(String) },
      expires_at: expect.any(String),
      paid_at: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(Date.parse(link.expires_at) - Date.parse(link.created_at)).toBe(30 * 24 * 3_600_000);
    expect(await stageOf(service, conversationId)).toBe('payment_pending');
    const qualified = await waitFor('the event', () => eventsOf(conversationId)[0]);
    expect(qualified).toMatchObject({
      event: 'conversation.qualified',
      funnel: { stage: 'payment_pending', previous_stage: 'new' },
    });
    await makeLink(service, conversationId);
    await allDelivered(service);
    expect(eventsOf(conversationId)).toHaveLength(1);
    expect(receiver.faults).toEqual([]);
  });

  it('emits payment.paid with the whole payment when it is marked as paid, and moves the funnel to customer', async () => {
    const link = await makeLink(service, conversationId, { amount: 1234, currency: 'kwd' });
    const answer = await markPaid(link.id, { reference: 'Transfer 2026-1182' });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        id: link.id,
        status: 'paid',
        provider_reference: 'Transfer 2026-1182',
        amount_display: 'KWD\u00a01.234',
      },
    });
    await allDelivered(service);
    const [qualified, paid, ...more] = eventsOf(conversationId);
    expect(more).toEqual([]);
    expect(qualified.event).toBe('conversation.qualified');
    expect(paid).toEqual({
      id: expect.stringMatching(/^evt_/),
      event: 'payment.paid',
      occurred_at: answer.body.paid_at,
      workspace: 'test',
      conversation: expect.objectContaining({
        id: conversationId,
        funnel_stage: 'customer',
        contact_name: 'Eva',
      }),
      payment: {
        id: link.id,
        status: 'paid',
        amount: 1234,
        currency: 'kwd',
        description: 'Demo, one hour',
        provider: 'manual',
        provider_reference: 'Transfer 2026-1182',
        paid_at: answer.body.paid_at,
      },
    });
    expect(receiver.faults).toEqual([]);
  });

  it('is paid once: marked twenty times at once, it emits one payment.paid; a later mark changes nothing', async () => {
    const { id } = await makeLink(service, conversationId);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => markPaid(id, { reference: `Transfer ${n}` })),
    );
    const [first] = answers;
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: first!.body });
    expect((await markPaid(id, { reference: 'another' })).body).toEqual(first!.body);
    expect(await paidEventsOf(receiver, service, id)).toHaveLength(1);
  });

  it('takes the same reference for two links: one transfer can pay both', async () => {
    for (let n = 0; n < 2; n++) {
      const { id } = await makeLink(service, conversationId);
      expect((await markPaid(id, { reference: 'cash' })).status).toBe(200);
    }
  });

  it('needs no reference, and refuses an empty one and one that is too long', async () => {
    const { id } = await makeLink(service, conversationId);
    for (const reference of ['', ' ', 'x'.repeat(201)]) {
      expect(await markPaid(id, { reference })).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param: 'reference' } },
      });
    }
    expect((await markPaid(id)).body).toMatchObject({ status: 'paid', provider_reference: null });
  });

  it('is cancelled once, and then neither paid nor cancelled again', async () => {
    const { id } = await makeLink(service, conversationId);
    const first = await cancel(id);
    expect(first).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect((await cancel(id)).body).toEqual(first.body);
    const refused = await markPaid(id);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'payment_not_open' } } });
    expect(refused.body.error.message).toMatch(/was cancelled\. It cannot be marked as paid\./);
    expect(await paidEventsOf(receiver, service, id)).toEqual([]);
  });

  it('is either cancelled or paid when both are asked at once', async () => {
    const { id } = await makeLink(service, conversationId);
    const [paid, cancelled] = await Promise.all([markPaid(id), cancel(id)]);
    expect([paid!.status, cancelled!.status].sort()).toEqual([200, 409]);
    expect(await paidEventsOf(receiver, service, id)).toHaveLength(paid!.status === 200 ? 1 : 0);
  });

  it('says when it was paid to a member who tries to cancel it', async () => {
    const { id } = await makeLink(service, conversationId);
    const { paid_at: paidAt } = (await markPaid(id)).body;
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'payment_not_open' } } });
    expect(answer.body.error.message).toContain(
      `was paid at ${paidAt}. It cannot be cancelled any more.`,
    );
  });

  it('expires at its time, not before, and can still be marked as paid', async () => {
    const { id } = await makeLink(service, conversationId, { expires_in: 60 });
    await later(58_000, async () => {
      // by the time that another link is made and cancelled, the queue has done what is due
      const other = await makeLink(service, conversationId);
      await cancel(other.id);
      expect((await readLink(service, id)).status).toBe('open');
    });
    await later(61_000, async () => void (await linkIn(service, id, 'expired')));
    const refused = await cancel(id);
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'payment_not_open' } } });
    expect(refused.body.error.message).toContain(' expired at ');
    expect((await markPaid(id)).body.status).toBe('paid');
    expect(await paidEventsOf(receiver, service, id)).toHaveLength(1);
  });

  it('expires after a restart too', async () => {
    const { id } = await makeLink(service, conversationId, { expires_in: 60 });
    await service.restart();
    expect((await readLink(service, id)).status).toBe('open');
    await later(61_000, async () => void (await linkIn(service, id, 'expired')));
  });

  it('does not expire once it is paid', async () => {
    const { id } = await makeLink(service, conversationId, { expires_in: 60 });
    await markPaid(id);
    const { id: twin } = await makeLink(service, conversationId, { expires_in: 60 });
    await later(61_000, async () => void (await linkIn(service, twin, 'expired')));
    expect((await readLink(service, id)).status).toBe('paid');
  });

  it('is paid after the conversation was closed: the funnel moves all the same', async () => {
    const { id } = await makeLink(service, conversationId);
    const closing = { summary: 'done', verdict: 'goal_reached' };
    await service.api.post(`/api/conversations/${conversationId}/close`, closing);
    expect((await markPaid(id)).body.status).toBe('paid');
    expect(await paidEventsOf(receiver, service, id)).toMatchObject([
      { conversation: { status: 'closed', funnel_stage: 'customer' } },
    ]);
  });

  it('moves nobody out of lost: neither when it is made nor when it is paid', async () => {
    const path = `/api/conversations/${conversationId}`;
    expect((await service.api.patch(path, { funnel_stage: 'lost' })).status).toBe(200);
    const { id } = await makeLink(service, conversationId);
    expect(await stageOf(service, conversationId)).toBe('lost');
    await markPaid(id);
    expect(await stageOf(service, conversationId)).toBe('lost');
    await allDelivered(service);
    expect(eventsOf(conversationId).map(({ event }) => event)).toEqual(['payment.paid']);
  });

  it('does not move a customer back to payment_pending', async () => {
    await markPaid((await makeLink(service, conversationId)).id);
    await makeLink(service, conversationId);
    expect(await stageOf(service, conversationId)).toBe('customer');
  });

  it('masks what is known of the customer, in events and answers', async () => {
    const eva = await chatCustomer(service.url, { email: 'eva.lind@example.com' });
    const { conversation_id: own } = await eva.write('hello');
    const description = 'For eva.lind@example.com, order 17';
    const link = await makeLink(service, own, { description });
    const paid = await markPaid(link.id, { reference: 'from eva.lind@example.com' });
    const [event] = await paidEventsOf(receiver, service, link.id);
    for (const shown of [link, paid.body, event]) {
      expect(JSON.stringify(shown)).not.toContain('eva.lind@example.com');
      expect((shown.payment ?? shown).description).toMatch(/^For .+, order 17$/);
    }
  });

  it('needs an API key', async () => {
    const { id } = await makeLink(service, conversationId);
    const stranger = apiClient(service.url, null);
    for (const path of ['/api/payment-links', `/api/payment-links/${id}`, '/api/payment-accounts'])
      expect((await stranger.get(path)).status).toBe(401);
    for (const path of [
      `/api/payment-links/${id}/mark-paid`,
      `/api/payment-links/${id}/cancel`,
      `/api/conversations/${conversationId}/payment-links`,
    ])
      expect((await stranger.post(path, {})).status).toBe(401);
    expect((await readLink(service, id)).status).toBe('open');
  });
});
