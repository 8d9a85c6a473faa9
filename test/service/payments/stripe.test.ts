import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../helpers/service.ts';
import { startStripeServer, stripeError, type StripeServer } from '../../helpers/stripeServer.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import {
  allDelivered,
  LINK,
  linkIn,
  makeLink,
  newConversation,
  pageOf,
  readLink,
  stageOf,
  subscribeToPayments,
} from './support.ts';
import { setUpStripe, WEBHOOK_SECRET } from './stripeSupport.ts';

const HOUR_MS = 3_600_000;

describe('a link paid with Stripe', () => {
  let server: StripeServer;
  let receiver: EventReceiver;
  let service: TestService;
  let conversationId: string;
  let webhookUrl: string;
  let skewMs = 0;

  beforeAll(async () => {
    server = await startStripeServer({ now: () => Date.now() + skewMs });
    receiver = await startEventReceiver();
    service = await startTestService({
      ca: receiver.ca,
      env: { STRIPE_API_URL: server.url },
      clock: { now: () => new Date(Date.now() + skewMs) },
    });
    webhookUrl = await setUpStripe(service, server);
    await subscribeToPayments(receiver, service);
  });
  beforeEach(async () => {
    skewMs = 0;
    server.answerAll(null);
    server.sendWebhooksTo({ url: webhookUrl, secret: WEBHOOK_SECRET });
    conversationId = await newConversation(service);
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await server?.close();
  });

  const paidEvents = async (id: string) => {
    await allDelivered(service);
    return receiver.payloads('payment.paid').filter(({ payment }) => payment.id === id);
  };

  it('leads to the page of Stripe, back again, and to payment.paid with everything in it', async () => {
    const link = await makeLink(service, conversationId);
    const session = server.sessionOf(link.id);
    const toStripe = await fetch(pageOf(service, link), { redirect: 'manual' });
    expect([toStripe.status, toStripe.headers.get('location')]).toEqual([303, session.url]);

    const paying = await fetch(session.url!, { method: 'POST', redirect: 'manual' });
    const back = new URL(paying.headers.get('location')!);
    expect(back.search).toBe('?from=provider');
    expect(back.href.replace('?from=provider', '')).toBe(link.url);
    expect(await (await fetch(pageOf(service, link, back.search))).text()).toMatch(/paid/i);

    await waitFor('the event', async () => (await paidEvents(link.id)).length === 1);
    const [{ conversation, payment }] = await paidEvents(link.id);
    expect(payment).toEqual({
      id: link.id,
      status: 'paid',
      amount: 4900,
      currency: 'usd',
      description: LINK.description,
      provider: 'stripe',
      provider_reference: session.id,
      paid_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
    });
    expect(conversation).toMatchObject({ id: conversationId, funnel_stage: 'customer' });
    const qualified = receiver
      .payloads('conversation.qualified')
      .filter(({ conversation }) => conversation.id === conversationId);
    expect(qualified).toHaveLength(1);
    expect(receiver.faults).toEqual([]);
  });

  it('is seen when the customer comes back, where the webhook was lost', async () => {
    server.sendWebhooksTo(null);
    const link = await makeLink(service, conversationId);
    await server.pay(server.sessionOf(link.id).id);
    expect((await readLink(service, link.id)).status).toBe('open');
    await fetch(pageOf(service, link, '?from=provider'));
    await linkIn(service, link.id, 'paid');
    expect(await paidEvents(link.id)).toHaveLength(1);
  });

  it('is seen when the time of the link is over, where the webhook was lost and nobody came back', async () => {
    server.sendWebhooksTo(null);
    const link = await makeLink(service, conversationId, { expires_in: 1800 });
    await server.pay(server.sessionOf(link.id).id);
    skewMs = HOUR_MS;
    await linkIn(service, link.id, 'paid');
    expect(await stageOf(service, conversationId)).toBe('customer');
    expect(await paidEvents(link.id)).toHaveLength(1);
  });

  it('and the webhook that comes after all changes nothing', async () => {
    const link = await makeLink(service, conversationId);
    const { id } = server.sessionOf(link.id);
    server.sendWebhooksTo(null);
    await server.pay(id);
    await fetch(pageOf(service, link, '?from=provider'));
    const paid = await linkIn(service, link.id, 'paid');
    const { headers, body } = server.webhook(id, 'checkout.session.completed', WEBHOOK_SECRET);
    expect((await fetch(webhookUrl, { method: 'POST', headers, body })).status).toBe(200);
    expect(await readLink(service, link.id)).toEqual(paid);
    expect(await paidEvents(link.id)).toHaveLength(1);
  });

  it('can no longer be paid once its time is over: its page at Stripe is closed', async () => {
    const link = await makeLink(service, conversationId, { expires_in: 1800 });
    expect(server.sessionOf(link.id).expires_at * 1000).toBeGreaterThan(
      Date.parse(link.expires_at) + 60_000,
    );
    skewMs = 1800_000 + 31_000;
    await linkIn(service, link.id, 'expired');
    expect(server.sessionOf(link.id)).toMatchObject({ status: 'expired', url: null });
    expect(await paidEvents(link.id)).toEqual([]);
  });

  it('can no longer be paid once it is cancelled', async () => {
    const link = await makeLink(service, conversationId);
    expect((await service.api.post(`/api/payment-links/${link.id}/cancel`)).body.status).toBe(
      'cancelled',
    );
    await waitFor('the page to be closed', () => server.sessionOf(link.id).status === 'expired');
    expect((await readLink(service, link.id)).status).toBe('cancelled');
  });

  it('ends when the team closes it in the dashboard of Stripe', async () => {
    const link = await makeLink(service, conversationId);
    await server.expire(server.sessionOf(link.id).id);
    await linkIn(service, link.id, 'expired');
  });

  it('waits while Stripe is down, and comes up by itself', async () => {
    server.answerAll(stripeError(503));
    const answer = service.api.post(`/api/conversations/${conversationId}/payment-links`, LINK);
    const waiting = await waitFor('a try', async () => {
      const [link] = (await service.api.get(`/api/payment-links?conversation_id=${conversationId}`))
        .body.data;
      return link?.error && link;
    });
    expect(waiting).toMatchObject({
      status: 'creating',
      error: expect.stringMatching(/Stripe could not do it for the moment \(status 503\)/),
    });
    server.answerAll(null);
    expect(await answer).toMatchObject({ status: 201, body: { id: waiting.id } });
    expect(await linkIn(service, waiting.id, 'open')).toMatchObject({
      error: null,
      provider_reference: server.sessionOf(waiting.id).id,
    });
  });

  it.each([
    [{ amount: 4901, currency: 'kwd' }, 'amount', 'amount must end in 0 with Stripe in kwd.'],
    [
      { amount: 100_000_000 },
      'amount',
      'amount must be at most 99999999 with Stripe in usd (999999.99).',
    ],
    [{ currency: 'IQD' }, 'currency', 'currency must be one that Stripe takes, and iqd is not.'],
  ])('is not made for %j', async (wanted, param, message) => {
    const answer = await service.api.post(`/api/conversations/${conversationId}/payment-links`, {
      ...LINK,
      ...wanted,
    });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param, message } },
    });
  });

  it("is refused in Stripe's own words", async () => {
    const answer = await service.api.post(`/api/conversations/${conversationId}/payment-links`, {
      ...LINK,
      amount: 1,
    });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'payment_refused',
          message: expect.stringMatching(/must convert to at least 50 cents/),
        },
      },
    });
  });

  it('works with the keys that Test connection has taken', async () => {
    const test = () => service.api.post('/api/payment-accounts/stripe/test');
    expect(await test()).toMatchObject({
      status: 200,
      body: { ok: true, message: 'Stripe takes the key, in test mode: no real money moves.' },
    });
    await setUpStripe(service, server, { secret_key: 'sk_live_AnotherKeyOfNobody' });
    const wrong = await test();
    expect(wrong).toMatchObject({
      status: 200,
      body: { ok: false, message: expect.stringMatching(/does not take the secret key/) },
    });
    expect((await service.api.get('/api/payment-accounts')).body.data[0].last_test).toEqual(
      wrong.body,
    );
    await setUpStripe(service, server);
  });
});
