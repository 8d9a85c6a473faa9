import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { startStripeServer, type StripeServer } from '../../../helpers/stripeServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  LINK,
  linkIn,
  makeLink,
  newConversation,
  pageOf,
  paidEventsOf,
  readLink,
  requestLink,
  subscribeToPayments,
} from '../support.ts';
import { deliver, setUpStripe, WEBHOOK_SECRET } from './stripeSupport.ts';

describe('a link paid with Stripe', () => {
  let server: StripeServer;
  let receiver: EventReceiver;
  let service: TestService;
  let conversationId: string;
  let webhookUrl: string;

  beforeAll(async () => {
    server = await startStripeServer();
    receiver = await startEventReceiver();
    service = await startTestService({ ca: receiver.ca, env: { STRIPE_API_URL: server.url } });
    webhookUrl = await setUpStripe(service, server);
    await subscribeToPayments(receiver, service);
  });
  beforeEach(async () => {
    server.sendWebhooksTo({ url: webhookUrl, secret: WEBHOOK_SECRET });
    conversationId = await newConversation(service);
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await server?.close();
  });

  const paidEvents = (id: string) => paidEventsOf(receiver, service, id);

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

  it('stays as it is when the webhook comes after all', async () => {
    const link = await makeLink(service, conversationId);
    const { id } = server.sessionOf(link.id);
    server.sendWebhooksTo(null);
    await server.pay(id);
    await fetch(pageOf(service, link, '?from=provider'));
    const paid = await linkIn(service, link.id, 'paid');
    const webhook = server.webhook(id, 'checkout.session.completed', WEBHOOK_SECRET);
    expect((await deliver(webhookUrl, webhook)).status).toBe(200);
    expect(await readLink(service, link.id)).toEqual(paid);
    expect(await paidEvents(link.id)).toHaveLength(1);
  });

  it.each([
    [{ amount: 4901, currency: 'kwd' }, 'amount', 'amount must end in 0 with Stripe in kwd.'],
    [
      { amount: 100_000_000 },
      'amount',
      'amount must be at most 99999999 with Stripe in usd (999999.99).',
    ],
    [{ currency: 'IQD' }, 'currency', 'currency must be one that Stripe accepts, and iqd is not.'],
  ])('is not made for %j', async (wanted, param, message) => {
    expect(await requestLink(service, conversationId, wanted)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param, message } },
    });
  });

  it('has an account whose test says whether Stripe accepts its key', async () => {
    const test = () => service.api.post('/api/payment-accounts/stripe/test');
    expect(await test()).toMatchObject({
      status: 200,
      body: { ok: true, message: 'Stripe accepts the key, in test mode: no real money moves.' },
    });
    await setUpStripe(service, server, { secret_key: 'sk_live_AnotherKeyOfNobody' });
    const wrong = await test();
    expect(wrong).toMatchObject({
      status: 200,
      body: { ok: false, message: expect.stringMatching(/does not accept the secret key/) },
    });
    expect((await service.api.get('/api/payment-accounts')).body.data[0].last_test).toEqual(
      wrong.body,
    );
    await setUpStripe(service, server);
  });
});
