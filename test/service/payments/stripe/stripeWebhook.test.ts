import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { startEventReceiver, type EventReceiver } from '../../../helpers/eventReceiver.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import {
  signWebhook,
  startStripeServer,
  type StripeServer,
  type StripeWebhook,
} from '../../../helpers/stripeServer.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import {
  linkIn,
  makeLink,
  newConversation,
  pageOf,
  paidEventsOf,
  readLink,
  requestLink,
  stageOf,
} from '../support.ts';
import { deliver, delivered, setUpStripe, WEBHOOK_SECRET } from './stripeSupport.ts';

const RECEIVED = { status: 200, body: { received: true } };
const COMPLETED = 'checkout.session.completed';
const EXPIRED = 'checkout.session.expired';
const MONEY_CAME = 'checkout.session.async_payment_succeeded';
const BANK_REFUSED = 'checkout.session.async_payment_failed';

describe("Stripe's webhook", () => {
  let server: StripeServer;
  let receiver: EventReceiver;
  let service: TestService;
  let url: string;
  let conversationId: string;
  const lines: string[] = [];

  beforeAll(async () => {
    server = await startStripeServer();
    receiver = await startEventReceiver();
    service = await startTestService({
      ca: receiver.ca,
      env: { STRIPE_API_URL: server.url },
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
    url = await setUpStripe(service, server);
    await receiver.subscribe(service, 'payment.paid');
  });
  beforeEach(async () => {
    conversationId = await newConversation(service);
  });
  afterEach(() => {
    expect(receiver.faults).toEqual([]);
    expect(lines.join('')).not.toMatch(/whsec_|sk_test/);
    server.sendWebhooksTo(null);
  });
  afterAll(async () => {
    await service?.stop();
    await receiver?.close();
    await server?.close();
  });

  const link = async (wanted = {}) => {
    const made = await makeLink(service, conversationId, wanted);
    return { id: made.id as string, session: server.sessionOf(made.id).id };
  };
  /** A webhook about a session as it stands now, signed with our secret. */
  const webhook = (
    session: string,
    type: Parameters<StripeServer['webhook']>[1] = COMPLETED,
    options: Parameters<StripeServer['webhook']>[3] = {},
  ) => server.webhook(session, type, WEBHOOK_SECRET, options);
  const cancel = (id: string) => service.api.post(`/api/payment-links/${id}/cancel`);
  const open = async (id: string, query = '') =>
    fetch(pageOf(service, await readLink(service, id), query), { redirect: 'manual' });
  const eventsOf = (id: string) => paidEventsOf(receiver, service, id);

  it('that a link is paid, sent twenty times at once and once more later: it is paid once', async () => {
    const { id, session } = await link();
    await server.pay(session);
    const paid = webhook(session);
    const answers = await Promise.all(Array.from({ length: 20 }, () => delivered(url, paid)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => RECEIVED));
    expect(await delivered(url, webhook(session))).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({
      status: 'paid',
      provider_reference: session,
      error: null,
    });
    expect(await eventsOf(id)).toHaveLength(1);
    expect(await stageOf(service, conversationId)).toBe('customer');
  });

  it('completed without money, as by bank debit, does not count as paid; the money that comes later does', async () => {
    const { id, session } = await link();
    await server.pay(session, { async: true });
    expect(await delivered(url, webhook(session))).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({ status: 'open', paid_at: null });
    expect(await stageOf(service, conversationId)).toBe('payment_pending');
    expect(await eventsOf(id)).toEqual([]);
    await server.settle(session, 'succeeded');
    expect(await delivered(url, webhook(session, MONEY_CAME))).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('completed without money leads nobody to pay again: the page says that there is nothing more to do', async () => {
    const { id, session } = await link();
    expect((await open(id)).headers.get('location')).toBe(server.sessionOf(id).url);
    await server.pay(session, { async: true });
    await deliver(url, webhook(session));
    for (const query of ['', '?from=provider']) {
      const page = await open(id, query);
      expect(page.status).toBe(200);
      const text = await page.text();
      expect(text).toContain(
        'You don’t need to do anything. Your bank still has to confirm the payment',
      );
      expect(text).not.toContain('Pay now');
    }
    await deliver(url, webhook(session, MONEY_CAME));
    expect(await (await open(id)).text()).toContain('<h2>Paid</h2>');
  });

  it('a bank that refuses: the link has failed, the customer is told, and late webhooks change nothing', async () => {
    const { id, session } = await link();
    await server.pay(session, { async: true });
    const completed = webhook(session);
    await deliver(url, completed);
    const failed = webhook(session, BANK_REFUSED);
    expect(await delivered(url, failed)).toEqual(RECEIVED);
    const refused = {
      status: 'failed',
      paid_at: null,
      error: "The customer's bank refused the payment, so nothing was paid. Make a new link.",
    };
    expect(await readLink(service, id)).toMatchObject(refused);
    for (const late of [completed, failed]) expect(await delivered(url, late)).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject(refused);
    expect(await (await open(id)).text()).toContain(
      'Your bank refused the payment, so nothing was paid.',
    );
    const { error } = (await cancel(id)).body;
    expect(error.message).toContain("was refused by the customer's bank");
    expect(await eventsOf(id)).toEqual([]);
    expect(await stageOf(service, conversationId)).toBe('payment_pending');
  });

  it('a bank that refuses is told to the repeat of the request that made the link', async () => {
    const key = { 'idempotency-key': `refused-later-${conversationId}` };
    const create = () => requestLink(service, conversationId, {}, key);
    const { id } = (await create()).body;
    const { id: session } = server.sessionOf(id);
    await server.pay(session, { async: true });
    await deliver(url, webhook(session, BANK_REFUSED));
    expect(await create()).toMatchObject({ status: 201, body: { id, status: 'failed' } });
  });

  it('a bank that refuses what was cancelled, or has been paid: both stay so', async () => {
    const cancelled = await link();
    await server.pay(cancelled.session, { async: true });
    await cancel(cancelled.id);
    await deliver(url, webhook(cancelled.session, BANK_REFUSED));
    expect(await readLink(service, cancelled.id)).toMatchObject({
      status: 'cancelled',
      error: null,
    });

    const paid = await link();
    await server.pay(paid.session);
    await deliver(url, webhook(paid.session));
    await deliver(url, webhook(paid.session, BANK_REFUSED));
    expect(await readLink(service, paid.id)).toMatchObject({ status: 'paid', error: null });
  });

  it('expired: the link expires, but a link that was paid before stays paid', async () => {
    const first = await link();
    await server.expire(first.session);
    expect(await delivered(url, webhook(first.session, EXPIRED))).toEqual(RECEIVED);
    expect(await readLink(service, first.id)).toMatchObject({ status: 'expired' });

    const second = await link();
    await server.pay(second.session);
    await deliver(url, webhook(second.session));
    await deliver(url, webhook(second.session, EXPIRED));
    expect(await readLink(service, second.id)).toMatchObject({ status: 'paid' });
  });

  it('expired: a cancelled link no longer says that its page could not be closed', async () => {
    const cancelled = await link();
    await setUpStripe(service, server, { secret_key: 'sk_test_WrongKeyOfNobody000' });
    try {
      await cancel(cancelled.id);
      await waitFor('the refusal', async () => (await readLink(service, cancelled.id)).error);
      await deliver(url, webhook(cancelled.session, EXPIRED));
      expect(await readLink(service, cancelled.id)).toMatchObject({
        status: 'cancelled',
        error: null,
      });
    } finally {
      await setUpStripe(service, server);
    }
  });

  it('paid, when the link was just cancelled or had expired here: the money counts', async () => {
    const cancelled = await link();
    await server.pay(cancelled.session);
    await cancel(cancelled.id);
    await deliver(url, webhook(cancelled.session));
    expect(await readLink(service, cancelled.id)).toMatchObject({ status: 'paid' });
    expect(await eventsOf(cancelled.id)).toHaveLength(1);

    const expired = await link();
    await deliver(url, webhook(expired.session, EXPIRED));
    await linkIn(service, expired.id, 'expired');
    await server.pay(expired.session);
    await deliver(url, webhook(expired.session));
    expect(await readLink(service, expired.id)).toMatchObject({ status: 'paid' });
    expect(await eventsOf(expired.id)).toHaveLength(1);
  });

  it('about something that is not ours is accepted and ignored, and the log says so', async () => {
    const { id, session } = await link();
    await server.pay(session);
    lines.length = 0;
    for (const data of [
      { metadata: {} },
      { metadata: { payment_id: 'pay_01JD6Z0000000000000000000A' } },
      { id: 'cs_test_another' },
      { metadata: { payment_id: '__proto__' } },
    ]) {
      expect(await delivered(url, webhook(session, COMPLETED, { data }))).toEqual(RECEIVED);
    }
    const other = signWebhook(
      JSON.stringify({
        id: 'evt_1',
        object: 'event',
        type: 'invoice.paid',
        data: { object: { id: 'in_1' } },
      }),
      WEBHOOK_SECRET,
      new Date(),
    );
    expect(await delivered(url, other)).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({ status: 'open' });
    expect(lines.filter((line) => line.includes('it was ignored'))).toHaveLength(3);
  });

  it("with another workspace's secret, or about its payments, changes nothing", async () => {
    const { id, session } = await link();
    await server.pay(session);
    const rival = await service.addWorkspace('Rival');
    url = service.url + new URL(url).pathname;
    const { body: account } = await rival.put('/api/payment-accounts/stripe', {
      settings: { secret_key: 'sk_test_rivalrivalrival', webhook_secret: 'whsec_rivalrivalrival' },
    });
    const rivalUrl = service.url + new URL(account.webhook_url).pathname;

    const theirs = server.webhook(session, COMPLETED, 'whsec_rivalrivalrival');
    expect((await delivered(url, theirs)).status).toBe(400);
    expect((await delivered(rivalUrl, webhook(session))).status).toBe(400);
    expect(await delivered(rivalUrl, theirs)).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({ status: 'open' });
    expect(await eventsOf(id)).toEqual([]);
  });

  it.each<[string, (session: string) => StripeWebhook]>([
    ['too old', (session) => webhook(session, COMPLETED, { at: new Date(Date.now() - 301_000) })],
    [
      'changed on the way',
      (session) => {
        const { headers, body } = webhook(session, EXPIRED);
        return { headers, body: body.replace(EXPIRED, COMPLETED) };
      },
    ],
    ['not signed', (session) => ({ headers: {}, body: webhook(session).body })],
    [
      'signed in another scheme',
      (session) => {
        const { headers, body } = webhook(session);
        const signature = headers['stripe-signature']!.replace('v1=', 'v0=');
        return { headers: { 'stripe-signature': signature }, body };
      },
    ],
    ['empty', () => ({ headers: {}, body: '' })],
  ])('%s: 400, in words that say what to compare', async (_what, make) => {
    const { id, session } = await link();
    await server.pay(session);
    const answer = await delivered(url, make(session));
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'invalid_request',
          message: expect.stringMatching(/signing secret under Payments.*Stripe shows/),
        },
      },
    });
    expect(await readLink(service, id)).toMatchObject({ status: 'open' });
  });

  it('at an unknown address: 404, before the body is read', async () => {
    const empty = signWebhook('{}', WEBHOOK_SECRET, new Date());
    for (const path of [
      '/api/payments/stripe/webhook/pac_01JD6Z0000000000000000000A',
      '/api/payments/paypal/webhook/x',
      url.slice(service.url.length).replace('stripe', 'manual'),
      '/api/payments/stripe/webhook/__proto__',
    ]) {
      expect(await delivered(service.url + path, empty)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
    }
    expect((await fetch(url)).status).toBe(405);
  });

  it('of more than 1 MiB, or compressed: refused', async () => {
    const large = signWebhook('x'.repeat(1024 * 1024 + 1), WEBHOOK_SECRET, new Date());
    expect(await delivered(url, large)).toMatchObject({
      status: 413,
      body: { error: { message: expect.stringMatching(/1 MiB/) } },
    });
    const { headers, body } = signWebhook('{}', WEBHOOK_SECRET, new Date());
    const packed = { headers: { ...headers, 'content-encoding': 'gzip' }, body };
    expect((await delivered(url, packed)).status).toBe(415);
  });

  it('where no signing secret is set: 400, whatever it is signed with', async () => {
    const { id, session } = await link();
    await setUpStripe(service, server, { webhook_secret: '' });
    await server.pay(session);
    for (const signed of [webhook(session), server.webhook(session, COMPLETED, '')])
      expect((await delivered(url, signed)).status).toBe(400);
    expect(await readLink(service, id)).toMatchObject({ status: 'open' });
    await setUpStripe(service, server);
    expect(await delivered(url, webhook(session))).toEqual(RECEIVED);
    expect(await readLink(service, id)).toMatchObject({ status: 'paid' });
  });

  it('its address is in the log, and names only the account', async () => {
    lines.length = 0;
    await delivered(url, signWebhook('{}', 'whsec_wrong', new Date()));
    expect(lines.join('')).toMatch(/\/api\/payments\/:type\/webhook\/pac_[0-9A-Z]{26}/);
    expect(lines.join('')).toMatch(/a webhook of a payment provider was refused/);
  });
});
