import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  accept,
  graphError,
  raw,
  reset,
  startGraphServer,
  takeAndCut,
  tooMany,
  type GraphReply,
  type GraphServer,
} from '../../../helpers/graphServer.ts';
import { startTestService, type TestService } from '../../../helpers/service.ts';
import { waitFor } from '../../../helpers/waitFor.ts';
import { APP_SECRET, connectWhatsApp, type WhatsAppAccount } from '../whatsapp/whatsappTalk.ts';

const HOUR_MS = 3_600_000;
const RETRIES = { CHANNEL_RETRY_DELAYS_MS: '20,30,40,50', AGENT_QUIET_MS: '0' };

let phones = 0;
const newPhone = () => `1415555${String(2000 + phones++)}`;
const outage: GraphReply = graphError(503, {
  code: 131016,
  message: '(#131016) Service overloaded',
});

describe('a message to a customer on WhatsApp', () => {
  let graph: GraphServer;
  let service: TestService;
  let account: WhatsAppAccount;
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };

  beforeAll(async () => {
    graph = await startGraphServer();
    service = await startTestService({ clock, env: { GRAPH_API_URL: graph.url, ...RETRIES } });
    await service.api.patch('/api/agent', { enabled: false });
  });
  beforeEach(async () => {
    graph.answerBy(() => accept);
    account = await connectWhatsApp(service, graph);
  });
  afterEach(async () => {
    aheadMs = 0;
    expect(graph.faults).toEqual([]);
    await service.api.delete(`/api/channels/${account.channelId}`);
  });
  afterAll(async () => {
    await service?.stop();
    await graph?.close();
  });

  const requestsTo = (phone: string) => graph.requests.filter(({ body }) => body.to === phone);
  const takenFor = (phone: string) => graph.taken.filter(({ body }) => body.to === phone);
  const textsTo = (phone: string) => takenFor(phone).map(({ body }) => body.text.body);

  it('arrives once, as it was written, and is sent; receipts move it on to delivered and read', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    const { status, body } = await customer.reply(
      'Tuesday at ten it is. 🎉\nSee https://example.com',
    );
    expect([status, body.message.delivery]).toEqual([201, { state: 'pending', error: null }]);
    expect(await customer.delivery(1, 'sent')).toEqual({ state: 'sent', error: null });
    expect(requestsTo(phone).map((request) => request.body)).toEqual([
      {
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: phone,
        type: 'text',
        text: { preview_url: false, body: 'Tuesday at ten it is. 🎉\nSee https://example.com' },
        biz_opaque_callback_data: expect.stringMatching(/^out_[0-9A-Z]{26}$/),
      },
    ]);
    const [taken] = takenFor(phone);
    await account.tell(taken!, 'read');
    await account.tell(taken!, 'delivered');
    await account.tell(taken!, 'failed');
    expect(await customer.deliveries()).toEqual([
      { text: body.message.text, state: 'read', error: null },
    ]);
  });

  it('arrives as several messages, split at the ends of sentences, when it is longer than WhatsApp allows', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    const sentences = Array.from(
      { length: 150 },
      (_, index) =>
        `This is sentence number ${index + 1} of a long explanation, which nobody wants to see cut.`,
    );
    expect((await customer.reply(sentences.join(' '))).status).toBe(201);
    await customer.delivery(1, 'sent');
    const texts = textsTo(phone);
    expect(texts.length).toBe(4);
    expect(texts.every((text) => text.length <= 4096 && text.endsWith('cut.'))).toBe(true);
    expect(texts.join(' ')).toBe(sentences.join(' '));
    for (const taken of takenFor(phone)) {
      expect((await customer.deliveries())[0]!.state).toBe('sent'); // until every part is delivered
      await account.tell(taken, 'delivered');
    }
    expect((await customer.deliveries())[0]!.state).toBe('delivered');
  });

  it('goes to the user id of a customer who hides the phone number', async () => {
    const customer = await account.customer('US.13491208655302741918');
    await customer.reply('Hello you');
    await customer.delivery(1, 'sent');
    expect(graph.requests.at(-1)?.body).toMatchObject({
      recipient: 'US.13491208655302741918',
      text: { body: 'Hello you' },
    });
    expect(graph.requests.at(-1)?.body).not.toHaveProperty('to');
  });

  it('comes after the one before, also while that one is tried again and again', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    let refusals = 3;
    graph.answerBy(({ body }) => (body.text.body === 'one' && refusals-- > 0 ? outage : accept));
    for (const text of ['one', 'two', 'three'])
      expect((await customer.reply(text)).status).toBe(201);
    await customer.delivery(3, 'sent');
    expect(requestsTo(phone).map(({ body }) => body.text.body)).toEqual([
      'one',
      'one',
      'one',
      'one',
      'two',
      'three',
    ]);
    expect((await customer.deliveries()).map(({ state, error }) => [state, error])).toEqual([
      ['sent', null],
      ['sent', null],
      ['sent', null],
    ]);
  });

  it('does not wait for another customer whose message hangs', async () => {
    const [slow, quick] = [newPhone(), newPhone()];
    const [first, second] = [await account.customer(slow), await account.customer(quick)];
    let free = () => {};
    graph.answerBy(({ body }) =>
      body.to === slow
        ? (res, take, request) => void (free = () => accept(res, take, request))
        : accept,
    );
    await first.reply('I hang');
    await waitFor('the request', () => requestsTo(slow).length === 1);
    await second.reply('I do not');
    await second.delivery(1, 'sent');
    expect((await first.deliveries())[0]?.state).toBe('pending');
    free();
    await first.delivery(1, 'sent');
  });

  it.each<[string, GraphReply]>([
    ['the service is overloaded', outage],
    ['a gateway answers 502 with a page', raw(502, '<html>Bad gateway</html>')],
    ['Meta has an unknown error', graphError(500, { code: 131000 })],
    [
      'an error is transient by its own word',
      graphError(400, { code: 999_999, ...({ is_transient: true } as object) }),
    ],
    ['the customer got too many messages', graphError(400, { code: 131056 })],
    ['the rate limit is hit', tooMany()],
  ])('is tried again when %s', async (_what, reply) => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(reply);
    await customer.reply('Again, please');
    expect(await customer.delivery(1, 'sent')).toEqual({ state: 'sent', error: null });
    expect(requestsTo(phone)).toHaveLength(2);
    expect(textsTo(phone)).toEqual(['Again, please']);
  });

  it.each<[string, () => string, (retryAfter: string, firstAt: number) => number]>([
    ['seconds', () => '1', (seconds, firstAt) => firstAt + Number(seconds) * 1000],
    ['a date', () => new Date(Date.now() + 2000).toUTCString(), (date) => Date.parse(date)],
  ])('waits as long as Meta asks it to, in %s', async (_unit, retryAfter, notBefore) => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    const asked = retryAfter();
    graph.answerWith(tooMany(asked));
    await customer.reply('In a second');
    await customer.delivery(1, 'sent');
    const [first, second] = requestsTo(phone);
    // Clocks and timers count in whole milliseconds.
    expect(second!.at).toBeGreaterThanOrEqual(notBefore(asked, first!.at) - 5);
  });

  it('fails after the last attempt and says why; the next message is still sent', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(...Array<GraphReply>(5).fill(outage));
    await customer.reply('Never');
    await customer.reply('But this');
    expect(await customer.delivery(1, 'failed')).toEqual({
      state: 'failed',
      error: "WhatsApp is not available at the moment (Meta's error 131016). It was tried 5 times.",
    });
    await customer.delivery(2, 'sent');
    expect(requestsTo(phone)).toHaveLength(6);
    expect(textsTo(phone)).toEqual(['But this']);
  });

  it.each<[string, GraphReply, string]>([
    [
      'the window has closed at Meta',
      graphError(400, { code: 131047, message: '(#131047) Re-engagement message' }),
      'More than 24 hours have passed since the customer last wrote',
    ],
    [
      'the number is not on WhatsApp',
      graphError(400, { code: 131026 }),
      'WhatsApp cannot deliver to this customer',
    ],
    [
      'the token has expired',
      graphError(401, {
        code: 190,
        message: 'Error validating access token: EAAGsecretsecretsecretsecretsecret has expired',
      }),
      'Meta rejected the access token',
    ],
    ['a permission is missing', graphError(403, { code: 200 }), 'The access token may not do this'],
    [
      'there is no means of payment',
      graphError(400, { code: 131042 }),
      'a problem with its payment method',
    ],
    [
      'something in the request is wrong',
      graphError(400, {
        code: 131009,
        error_data: { details: 'Parameter value is not valid for +1 415 555 2671' },
      }),
      'Meta says: Parameter value is not valid for [removed]',
    ],
    [
      'Meta has locked the account, with a 5xx',
      graphError(500, { code: 131031 }),
      'Meta has locked the account',
    ],
    [
      'an unknown error comes with a 4xx',
      graphError(400, { code: 987_654, message: 'Something new' }),
      "(Meta's error 987654). Meta says: Something new",
    ],
    ['something else answers 404', raw(404, 'Not here'), 'Check GRAPH_API_URL'],
    [
      'a redirect comes',
      raw(302, '', { location: 'https://example.com/' }),
      'a redirect (302), which is not followed',
    ],
  ])('fails at once and says why when %s', async (_what, reply, words) => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(reply);
    await customer.reply('Once');
    const { error } = await customer.delivery(1, 'failed');
    expect(error).toContain(words);
    expect(error).not.toMatch(/EAAG|\d{10}|415/);
    expect(requestsTo(phone)).toHaveLength(1);
  });

  it('counts as sent when Meta answers 200 and the rest is lost; the receipt brings its id', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(takeAndCut);
    await customer.reply('Cut off');
    await customer.delivery(1, 'sent');
    await account.tell(takenFor(phone)[0]!, 'delivered');
    await customer.delivery(1, 'delivered');
    expect(requestsTo(phone)).toHaveLength(1);
  });

  it('is not sent again when the receipt comes before the answer does, and the next one follows', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    let breakOff = () => {};
    graph.answerWith((res, take) => {
      take();
      breakOff = () => res.socket?.destroy();
    });
    await customer.reply('one');
    await waitFor('the request', () => takenFor(phone).length === 1);
    await account.tell(takenFor(phone)[0]!, 'delivered');
    await customer.delivery(1, 'delivered');
    await customer.reply('two');
    breakOff();
    await customer.delivery(2, 'sent');
    expect((await customer.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'sent']);
    expect(textsTo(phone)).toEqual(['one', 'two']);
  });

  it('waits for a receipt when the connection broke off after the request: with one, it is not sent again', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith((res, take, request) => {
      take();
      reset(res, take, request);
    });
    await customer.reply('Maybe there');
    await waitFor('the request', () => takenFor(phone).length === 1);
    await customer.reply('After it');
    await new Promise((resolve) => setTimeout(resolve, 500)); // several times the wait of a retry
    expect(requestsTo(phone)).toHaveLength(1);
    await account.tell(takenFor(phone)[0]!, 'sent');
    await customer.delivery(2, 'sent');
    expect(textsTo(phone)).toEqual(['Maybe there', 'After it']);
  });

  it('fails and says why when Meta reports a failure afterwards', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    await customer.reply('Too late');
    await customer.delivery(1, 'sent');
    await account.tell(takenFor(phone)[0]!, 'failed', [
      { code: 131026, title: 'Message undeliverable' },
    ]);
    expect((await customer.deliveries())[0]).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('WhatsApp cannot deliver to this customer'),
    });
  });

  it('is refused with 409 outside of the 24 hours, says since when, and stores nothing; it goes out when the customer writes again', async () => {
    const phone = newPhone();
    const wroteAt = new Date(Math.floor(Date.now() / 1000) * 1000);
    const customer = await account.customer(phone, wroteAt);
    aheadMs = 24 * HOUR_MS - 60_000;
    expect((await customer.reply('Just in time')).status).toBe(201);
    await customer.delivery(1, 'sent');
    const before = (await service.api.get(`/api/conversations/${customer.conversationId}`)).body;
    aheadMs = 24 * HOUR_MS + 1000;
    const { status, body } = await customer.reply('Too late');
    const spoken = (date: Date) => date.toISOString().replace('Z', '+00:00');
    expect([status, body.error.code]).toEqual([409, 'outside_messaging_window']);
    expect(body.error.message).toContain(
      `they last wrote at ${spoken(wroteAt)}, so it was open until ${spoken(new Date(wroteAt.getTime() + 24 * HOUR_MS))}`,
    );
    expect((await service.api.get(`/api/conversations/${customer.conversationId}`)).body).toEqual(
      before,
    );
    await account.write(phone, 'I am back', clock.now());
    expect((await customer.reply('Welcome back')).status).toBe(201);
    await customer.delivery(2, 'sent');
    expect(textsTo(phone)).toEqual(['Just in time', 'Welcome back']);
  });

  it('is refused with 409 when the account is not connected any more, and goes out again once it is', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    await service.api.delete(`/api/channels/${account.channelId}`);
    const { status, body } = await customer.reply('Nowhere to go');
    expect([status, body.error.code]).toEqual([409, 'channel_removed']);
    expect(await customer.deliveries()).toEqual([]);
    account = await connectWhatsApp(service, graph);
    expect((await customer.reply('Back again')).status).toBe(201);
    await customer.delivery(1, 'sent');
  });

  it('fails and says why when the account is disconnected before it is sent', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(tooMany('1'));
    await customer.reply('one');
    await customer.reply('two');
    await waitFor('the first attempt', () => requestsTo(phone).length === 1);
    await service.api.delete(`/api/channels/${account.channelId}`);
    await customer.delivery(2, 'failed');
    expect((await customer.deliveries()).map(({ error }) => error)).toEqual(
      Array<string>(2).fill('The channel was disconnected before this message was sent.'),
    );
    expect(textsTo(phone)).toEqual([]);
  });

  it('arrives in order for many customers at once, and at most 20 are under way for one account', async () => {
    const customers = await Promise.all(Array.from({ length: 30 }, async () => newPhone()));
    const talks = [];
    for (const phone of customers) talks.push(await account.customer(phone));
    const held: (() => void)[] = [];
    graph.answerBy(() => (res, take, request) => void held.push(() => accept(res, take, request)));
    for (const text of ['1', '2', '3'])
      for (const talk of talks) expect((await talk.reply(text)).status).toBe(201);
    await waitFor('20 requests', () => held.length >= 20);
    await new Promise((resolve) => setTimeout(resolve, 200)); // time for one too many
    expect(held).toHaveLength(20);
    graph.answerBy(() => accept);
    for (const answer of held) answer();
    for (const talk of talks) await talk.delivery(3, 'sent');
    for (const phone of customers) expect(textsTo(phone)).toEqual(['1', '2', '3']);
  });

  it('survives an orderly stop while it waits for its next attempt', async () => {
    const phone = newPhone();
    const customer = await account.customer(phone);
    graph.answerWith(tooMany('1'));
    await customer.reply('Patience');
    await waitFor('the first attempt', () => requestsTo(phone).length === 1);
    await service.restart();
    await customer.delivery(1, 'sent');
    expect(textsTo(phone)).toEqual(['Patience']);
  });

  it("leaves neither the token nor the app's secret in the clear in anything stored", async () => {
    const customer = await account.customer(newPhone());
    graph.answerWith(
      graphError(401, { code: 190, message: `Malformed access token ${graph.accessToken}` }),
    );
    await customer.reply('Token?');
    await customer.delivery(1, 'failed');
    const stored = await service.stored();
    expect(stored).toContain(graph.phoneNumberId);
    for (const secret of [graph.accessToken, APP_SECRET]) expect(stored).not.toContain(secret);
  });
});

describe("the agent's reply on WhatsApp", () => {
  it('is sent like any other message; if the window has closed it is not sent, and fails with the reason', async () => {
    const graph = await startGraphServer();
    let aheadMs = 0;
    const service = await startTestService({
      clock: { now: () => new Date(Date.now() + aheadMs) },
      env: { GRAPH_API_URL: graph.url, ...RETRIES },
    });
    try {
      expect((await service.api.patch('/api/agent', { enabled: true })).status).toBe(200);
      const account = await connectWhatsApp(service, graph);
      const customer = await account.customer(newPhone());
      await customer.delivery(1, 'sent');
      expect(graph.texts()).toHaveLength(1);
      aheadMs = 25 * HOUR_MS;
      const late = await account.customer(newPhone(), new Date());
      expect(await late.delivery(1, 'failed')).toMatchObject({
        error: expect.stringContaining('so it was open until'),
      });
      expect(graph.texts()).toHaveLength(1);
    } finally {
      await service.stop();
      await graph.close();
    }
  });
});
